"""Mistakes of people who write their own terms are named, with the term and the method."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from repair import InputError, Reranker
from repair.terms import Term, register_term
from repair.terms.registration import REGISTERED


@pytest.fixture(autouse=True)
def forget_the_terms_of_this_file():
    before = dict(REGISTERED)
    yield
    REGISTERED.clear()
    REGISTERED.update(before)


def learned_term(**methods):
    """Return a learned term that is complete but for what `methods` replaces; None removes a method."""

    def learn(cls, rows, options):
        return cls(), np.zeros((int(rows.covered.sum()), rows.shortlist.n_candidates, 1))

    complete = {
        "name": "lesson",
        "learns": True,
        "column": lambda self, view: np.zeros(view.mask.shape),
        "learn": classmethod(learn),
        "for_classes": lambda self, n_classes: self,
        "arrays": lambda self: {},
        "from_arrays": classmethod(lambda cls, arrays, description, table: cls()),
    }
    chosen = {name: method for name, method in (complete | methods).items() if method is not None}
    return type("Lesson", (Term,), chosen)


def fixed_term(column, **attributes):
    return type("Plain", (Term,), {"name": "plain", "column": lambda self, view: column(view), **attributes})


def fit(problem, mode, term):
    model = Reranker(mode, n_candidates=problem.k, terms=("score_gap", term))
    return model.fit(problem.scores, problem.labels, class_counts=problem.class_counts)


@pytest.mark.parametrize("method", ["learn", "for_classes", "arrays", "from_arrays"])
def test_a_learned_term_must_override_what_will_be_needed(method):
    with pytest.raises(InputError, match=f"'lesson' sets learns = True but does not override {method}"):
        register_term(learned_term(**{method: None}))


def test_a_term_needs_a_name_and_a_column():
    with pytest.raises(InputError, match="Lesson has the name None; give the class an attribute name"):
        register_term(learned_term(name=None))
    with pytest.raises(InputError, match="'lesson' does not override column"):
        register_term(learned_term(column=None))


def test_only_known_inputs_can_be_required():
    with pytest.raises(InputError, match="'plain' requires 'embeddings'; a fixed term can require class_counts, "):
        register_term(fixed_term(lambda view: view.ranks, requires=("embeddings",)))
    with pytest.raises(InputError, match=r"'lesson' requires 'groups'; a learned term can require .*, embeddings"):
        register_term(learned_term(requires=("groups",)))


def test_the_name_of_another_term_is_refused_but_the_same_class_may_come_again(problem):
    def define():
        @register_term
        @dataclass(frozen=True)
        class Again(Term):
            name: str = "again"

            def column(self, view):
                return view.ranks * 1.0

    define()
    define()  # a notebook cell that runs twice
    with pytest.raises(InputError, match=r"two terms have the name 'again': .*Again and .*Lesson; rename your own"):
        register_term(learned_term(name="again"))
    from repair.terms import rank_gap  # noqa: F401

    with pytest.raises(InputError, match="two terms have the name 'rank_gap'"):
        register_term(learned_term(name="rank_gap"))


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (lambda view: None, "returned None; expected an array of shape"),
        (lambda view: np.zeros(len(view.mask)), r"returned an array of shape \(\d+,\); expected an array of shape"),
        (lambda view: np.zeros((len(view.mask), 1)), r"returned an array of shape \(\d+, 1\)"),
    ],
)
def test_a_column_of_another_shape_is_refused(problem, column, said):
    register_term(fixed_term(column))
    with pytest.raises(InputError, match=f"column of the term 'plain' {said}"):
        fit(problem, "pairwise", "plain")


def test_a_column_that_is_not_finite_is_refused(problem):
    register_term(fixed_term(lambda view: np.where(view.ranks == 2, np.nan, 0.0)))
    with pytest.raises(InputError, match="the term 'plain' has the value nan for candidate 2 of covered row 0"):
        fit(problem, "pairwise", "plain")


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda cls, shape: cls(), "returned Lesson; expected the term and an array of shape"),
        (lambda cls, shape: (cls(), np.zeros(shape)), r"returned columns of shape \(\d+, \d+\); expected the term"),
        (lambda cls, shape: (cls(), np.zeros((shape[0] + 1, shape[1], 1))), "returned columns of shape"),
        (lambda cls, shape: (cls(), np.zeros((*shape, 2))), "'lesson' has 2 columns but does not override collapsed"),
        (lambda cls, shape: (cls(), np.full((*shape, 1), np.inf)), "the term 'lesson' has the value inf"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_learn_returns_is_checked(problem, returned, said):
    def learn(cls, rows, options):
        return returned(cls, (int(rows.covered.sum()), rows.shortlist.n_candidates))

    register_term(learned_term(learn=classmethod(learn)))
    with pytest.raises(InputError, match=said):
        fit(problem, "extended", "lesson")


def test_a_term_that_forgets_new_classes_does_not_read_beyond_its_numbers(problem):
    @register_term
    @dataclass(frozen=True, eq=False)
    class Forgetful(Term):
        usual: np.ndarray
        name: str = "forgetful"
        learns: ClassVar[bool] = True

        @classmethod
        def learn(cls, rows, options):
            shape = int(rows.covered.sum()), rows.shortlist.n_candidates, 1
            return cls(np.zeros(rows.table.n_classes)), np.random.default_rng(0).normal(size=shape)

        def column(self, view):
            return view.per_class(self.usual)

        def for_classes(self, n_classes):
            return self

        def arrays(self):
            return {"usual": self.usual}

        @classmethod
        def from_arrays(cls, arrays, description, table):
            return cls(arrays["usual"])

    names = [f"class {number}" for number in range(20)]
    labels = np.array(names)[problem.labels]
    model = Reranker("extended", terms=("score_gap", "forgetful")).fit(problem.scores, labels, class_names=names)
    wide = np.concatenate([problem.scores, np.full((len(problem.scores), 1), 9.0)], axis=1)
    with pytest.raises(InputError, match="a class vector has 20 entries, but there are 21 classes; for_classes"):
        model.with_classes(["newcomer"]).rerank(wide)


def test_a_model_with_an_unknown_term_says_to_import_its_module(problem, tmp_path):
    from repair import ArtifactError, load

    register_term(fixed_term(lambda view: (view.ranks == 0) * 1.0))
    fit(problem, "pairwise", "plain").save(tmp_path / "model")
    del REGISTERED["plain"]
    with pytest.raises(ArtifactError, match=r"'plain', which this version does not have; .* import its module before"):
        load(tmp_path / "model")


def test_a_term_with_two_names_replaces_two_equal_columns_and_can_be_loaded(problem, tmp_path):
    from repair import load

    @dataclass(frozen=True)
    class Lead(Term):
        name: str = "lead"
        multiplicity: float = 1.0

        def column(self, view):
            return (view.ranks == 0) * 1.0

    register_term(Lead)
    register_term(Lead, lambda: Lead(name="front"), "front")
    model = Reranker("pairwise", terms=("score_gap", "front", "lead")).fit(problem.scores, problem.labels)
    model.save(tmp_path / "model")
    assert list(load(tmp_path / "model").weights_) == list(model.weights_) == ["score_gap", "lead"]
