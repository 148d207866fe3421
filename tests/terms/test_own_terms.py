"""A learned term that is defined in this file and tested in everything that built-in terms are used for."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from repair import ArtifactError, InputError, Reranker, ScoreSet, compare, diagnose, load
from repair.report import write_report
from repair.stats.folds import fold_rows, group_folds
from repair.stats.row_weights import renumbered
from repair.terms import Term, register_term
from repair.validation.stored import stored_array


@register_term
@dataclass(frozen=True, eq=False)
class Typicality(Term):
    """How close a candidate's score is to its mean score on rows with that label."""

    usual: np.ndarray
    name: str = "typicality"
    requires: tuple = ("class_counts",)
    learns: ClassVar[bool] = True

    @classmethod
    def learn(cls, rows, options):
        covered = np.flatnonzero(rows.covered)
        shortlist, positions = rows.shortlist.take(covered), rows.positions[covered]
        label_scores = shortlist.scores[np.arange(len(covered)), positions]
        groups = None if rows.groups is None else renumbered(rows.groups[covered])

        def usual(which):
            sums = np.bincount(rows.labels[covered][which], label_scores[which], minlength=rows.table.n_classes)
            counts = np.bincount(rows.labels[covered][which], minlength=rows.table.n_classes)
            return (sums + label_scores.mean()) / (counts + 1)

        column = np.zeros(shortlist.ids.shape)
        for train, test in fold_rows(group_folds(len(covered), groups, 5, seed=0)):
            column[test] = -np.abs(shortlist.scores[test] - usual(train)[shortlist.ids[test]])
        return cls(usual(np.arange(len(covered)))), column[:, :, None]

    def column(self, view):
        return np.where(view.mask, -np.abs(view.scores - view.per_class(self.usual)), 0.0)

    def for_classes(self, n_classes):
        added = np.full(n_classes - len(self.usual), self.usual.mean())
        return replace(self, usual=np.concatenate([self.usual, added]))

    def notes(self):
        return ("typicality: the model keeps one number per class",)

    def arrays(self):
        return {"usual": self.usual}

    @classmethod
    def from_arrays(cls, arrays, description, table):
        usual = stored_array(arrays, "usual", np.float64, 1)
        if len(usual) != table.n_classes:
            raise InputError(f"usual has {len(usual)} entries, not {table.n_classes}")
        return cls(usual)


TERMS = ("score_gap", "typicality")
NAMES = [f"class {number}" for number in range(20)]


@pytest.fixture
def rows(problem):
    return ScoreSet(
        problem.scores, np.array(NAMES)[problem.labels], class_counts=problem.class_counts, class_names=NAMES
    )


@pytest.fixture
def model(rows, problem):
    return Reranker("extended", n_candidates=problem.k, terms=TERMS).fit(rows)


def test_it_is_fitted_and_explained(model, problem):
    assert list(model.weights_) == list(TERMS)
    assert model.weights_["typicality"] != 0
    explained = model.explain(problem.scores[3])
    for candidate in explained.candidates:
        assert set(candidate.contributions) == {"base", "offset", *TERMS}
        assert sum(candidate.contributions.values()) == pytest.approx(candidate.score)
    assert "typicality: the model keeps one number per class" in model.fit_summary_.notes


def test_a_loaded_model_gives_bit_identical_scores(model, problem, tmp_path):
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.rerank(problem.scores).scores.tobytes() == model.rerank(problem.scores).scores.tobytes()


def test_the_term_raises_the_error_for_a_damaged_file(model, tmp_path):
    from safetensors import safe_open
    from safetensors.numpy import save

    model.save(tmp_path / "model")
    with safe_open(tmp_path / "model", "numpy") as opened:
        described, arrays = opened.metadata(), {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    arrays["typicality.usual"] = arrays["typicality.usual"][:-1]
    (tmp_path / "model").write_bytes(save(arrays, metadata=described))
    with pytest.raises(ArtifactError, match="term 'typicality': usual has 19 entries, not 20"):
        load(tmp_path / "model")


def test_new_classes_do_not_change_the_scores_of_known_ones(model, problem):
    wide = np.concatenate([problem.scores, np.full((len(problem.scores), 1), 9.0)], axis=1)
    ranking = model.with_classes(["newcomer"]).rerank(wide)
    assert (ranking.ids == 20).any()
    known = model.rerank(problem.scores[:1])
    shown = model.with_classes(["newcomer"]).rerank(np.append(problem.scores[0], -99.0))
    np.testing.assert_allclose(shown.scores[0], known.scores[0])


def test_a_second_fit_with_the_chosen_parameters_is_bit_identical(model, rows, problem):
    again = model.with_chosen_parameters().fit(rows)
    assert again.rerank(problem.scores).scores.tobytes() == model.rerank(problem.scores).scores.tobytes()


def test_it_is_compared_and_diagnosed(rows, problem):
    methods = {"base": Reranker("base", n_candidates=6), "own": Reranker("extended", n_candidates=6, terms=TERMS)}
    assert "own" in str(compare(methods, rows.take(np.arange(200)), rows.take(np.arange(200, 300)), resamples=20))
    assert diagnose(rows, n_candidates=6, draws=5).n_rows == 300


@pytest.mark.needs("vl_convert")
def test_it_is_in_the_report(model, rows, tmp_path):
    content = write_report(tmp_path / "report.html", model, rows, rows=5, draws=5)
    assert "typicality" in dict(content.facts)["Term weights"]
    assert "typicality" in content.examples.parts


def test_missing_inputs_and_modes_without_learned_terms_raise_an_error(problem):
    with pytest.raises(InputError, match="the term 'typicality' needs class_counts; pass class_counts=… to fit"):
        Reranker("extended", terms=TERMS).fit(problem.scores, problem.labels)
    with pytest.raises(InputError, match="'typicality' is learned from the rows, and mode 'pairwise'"):
        Reranker("pairwise", terms=TERMS).fit(problem.scores, problem.labels, **problem.optional_fields)
