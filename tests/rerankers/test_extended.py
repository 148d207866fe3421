"""``mode="extended"`` from end to end, and what a hostile user may try."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from repair import (
    Base,
    ExtendedOptions,
    HeadLossLimit,
    InputError,
    Reranker,
    ScoreSet,
    Shortlist,
    compare,
    evaluate,
    head_tail_frontier,
    load,
    rare_classes,
)
from repair.data.calibration_set import CalibrationSet
from repair.diagnosis import diagnose
from repair.errors import InputWarning, MissingExtraError
from repair.evaluation.cross_fitting import cross_fit
from repair.terms.learned.context import MOST_CLASSES

K = 20


@pytest.fixture
def embedded(problem, make_vectors):
    """A problem, vectors that tell the label, and a function that fits it."""

    def fit(mode="extended", with_vectors=True, known=None, **options):
        more = {"embeddings": make_vectors(problem.labels)} if with_vectors else {}
        given = {"class_counts": problem.class_counts, **more, **(known or {})}
        return Reranker(mode, n_candidates=problem.k, **options).fit(problem.scores, problem.labels, **given)

    return fit


@pytest.fixture
def new_rows(make_problem, make_vectors):
    fresh = make_problem(seed=7)
    return fresh, make_vectors(fresh.labels, seed=7)


def hit(model, rows, vectors=None):
    return evaluate(model.rerank(rows.scores, embeddings=vectors), rows.labels).unconditional["hit@1"]


def test_vectors_that_tell_the_label_help_new_rows(embedded, new_rows):
    rows, vectors = new_rows
    base = hit(embedded("base", with_vectors=False), rows)
    assert hit(embedded(), rows, vectors) > base + 0.2
    assert set(embedded().weights_) >= {"context", "neighbours", "head"}
    from_scores = ["context", "score_head", "score_neighbours", "score_by_frequency"]
    assert list(embedded(with_vectors=False).weights_)[-4:] == from_scores


@pytest.mark.parametrize("with_vectors", [False, True])
def test_a_round_trip_keeps_every_bit(embedded, new_rows, tmp_path, with_vectors):
    rows, vectors = new_rows
    model = embedded(with_vectors=with_vectors, extended=ExtendedOptions(shortlist_tau=0.4))
    model.save(tmp_path / "one")
    again = load(tmp_path / "one")
    given = vectors if with_vectors else None
    before, after = (one.rerank(rows.scores, embeddings=given) for one in (model, again))
    assert before.ids.tobytes() == after.ids.tobytes()
    assert before.scores.tobytes() == after.scores.tobytes()
    assert again.fit_summary_ == model.fit_summary_
    again.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_same_fit_gives_the_same_bytes(embedded, tmp_path):
    for name in ("one", "two"):
        embedded().save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("with_vectors", [False, True])
def test_new_classes_change_nothing_for_rows_without_them(embedded, new_rows, tmp_path, with_vectors):
    rows, vectors = new_rows
    given = vectors if with_vectors else None
    model = embedded(with_vectors=with_vectors, extended=ExtendedOptions(shortlist_tau=0.6))
    more = model.with_classes(["new", "newer"])
    wide = np.column_stack([rows.scores, np.full((300, 2), -np.inf)])
    before, after = model.rerank(rows.scores, embeddings=given), more.rerank(wide, embeddings=given)
    assert (before.ids == after.ids).all()
    np.testing.assert_allclose(after.scores, before.scores, atol=1e-9)
    more.save(tmp_path / "model")
    wide[:, K] = 50.0
    again = load(tmp_path / "model").with_classes(["newest"])
    ranking = again.rerank(np.column_stack([wide, np.full(300, -np.inf)]), embeddings=given)
    assert (ranking.ids == K).any(axis=1).all()
    assert np.isfinite(ranking.scores[ranking.ids >= 0]).all()


@pytest.mark.parametrize("n_classes", [20, 90])
def test_scores_of_new_classes_leave_those_of_known_ones_alone(make_problem, n_classes):
    made = make_problem(n=400, n_classes=n_classes)
    model = Reranker("extended", n_candidates=5, extended=ExtendedOptions(shortlist_tau=0.0)).fit(
        made.scores, made.labels, class_counts=made.class_counts
    )
    wide = np.column_stack([made.scores, np.full(400, -30.0)])
    before, after = model.rerank(made.scores), model.with_classes(["new"]).rerank(wide)
    assert (before.ids == after.ids).all()
    np.testing.assert_allclose(after.scores, before.scores, atol=1e-4)


def test_the_same_numbers_in_other_types_are_the_same_rows(problem):
    model = Reranker("extended", n_candidates=6).fit(problem.scores, problem.labels, class_counts=problem.class_counts)
    whole = np.round(1000 * problem.scores) + 1e6
    expected = model.rerank(whole).scores
    for same in (whole.astype(np.int64), whole.astype(">f8"), np.asfortranarray(whole)):
        np.testing.assert_allclose(model.rerank(same).scores, expected, atol=1e-6)


def test_a_row_alone_is_the_row_in_a_batch(embedded, new_rows):
    rows, vectors = new_rows
    model = embedded()
    whole = model.rerank(rows.scores, embeddings=vectors)
    for row in (0, 150, 299):
        for given in (vectors[row], vectors[row : row + 1]):
            alone = model.rerank(rows.scores[row], embeddings=given)
            assert (alone.ids[0] == whole.ids[row]).all()
            np.testing.assert_allclose(alone.scores[0], whole.scores[row], atol=1e-4)
    without = embedded(with_vectors=False)
    whole = without.rerank(rows.scores)
    for row in (0, 150, 299):
        alone = without.rerank(rows.scores[row])
        assert (alone.ids[0] == whole.ids[row]).all()
        np.testing.assert_allclose(alone.scores[0], whole.scores[row], atol=1e-4)


def test_an_explanation_adds_up_and_shows_every_term(embedded, new_rows):
    rows, vectors = new_rows
    model = embedded(strength=0.7, dial=0.3)
    explained = model.explain(rows.scores[4], embeddings=vectors[4])
    ranking = model.rerank(rows.scores[4:5], embeddings=vectors[4:5])
    assert {"context", "neighbours", "head", "offset"} <= set(explained.candidates[0].contributions)
    for place, one in enumerate(explained.candidates):
        assert sum(one.contributions.values()) == pytest.approx(one.score, abs=1e-9)
        assert one.score == ranking.scores[0, place]


def test_probabilities_add_up_to_one_in_the_order_of_the_ranking(embedded, new_rows):
    rows, vectors = new_rows
    model = embedded()
    for wishes in ({}, {"dial": 0.5}, {"target_prior": np.linspace(1, 2, K)}, {"class_costs": np.linspace(1, 2, K)}):
        shares = model.rerank(rows.scores, embeddings=vectors, **wishes).probabilities
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        assert (model.predict(rows.scores, embeddings=vectors, **wishes) >= 0).all()
    assert (np.diff(model.rerank(rows.scores, embeddings=vectors).probabilities, axis=1) <= 1e-12).all()


def test_strength_zero_is_base_and_the_dial_turns(embedded, new_rows):
    rows, vectors = new_rows
    nothing = embedded(strength=0.0)
    assert (nothing.predict(rows.scores, embeddings=vectors) == rows.scores.argmax(axis=1)).all()
    model, rare = embedded(), np.argsort(rows.class_counts)[:10]
    turned = [np.isin(model.predict(rows.scores, embeddings=vectors, dial=dial), rare).mean() for dial in (0.0, 2.0)]
    assert turned[1] > turned[0]
    frontier = head_tail_frontier(model, rows.scores, rows.labels, dials=(0.0, 2.0), embeddings=vectors)
    assert frontier.values["accuracy"][0] == pytest.approx(hit(model, rows, vectors))


@pytest.mark.parametrize("strict", [False, True])
def test_the_head_loss_is_that_of_rows_that_were_not_fitted_on(make_problem, make_vectors, strict):
    """The fitted terms know every fitted row, whose loss would look like a great gain."""
    made, fresh = make_problem(n=300), make_problem(n=3000, seed=5)
    vectors, others = make_vectors(made.labels, 20, 2.5), make_vectors(fresh.labels, 20, 2.5, seed=6)
    known = {"class_counts": made.class_counts, "embeddings": vectors}
    model = Reranker(
        "extended",
        n_candidates=6,
        extended=ExtendedOptions(shortlist_tau=0.5),
        head_loss=HeadLossLimit(5.0, exact=strict),
    )
    model.fit(made.scores, made.labels, **known)
    whole = Reranker("extended", n_candidates=6, extended=ExtendedOptions(shortlist_tau=0.5)).fit(
        made.scores, made.labels, **known
    )

    def loss(rows, given):
        frequent = ~rare_classes(made.class_counts)[rows.labels]
        base = rows.scores.argmax(axis=1) == rows.labels
        return (base.astype(float) - (whole.predict(rows.scores, embeddings=given) == rows.labels))[frequent].mean()

    assert model.head_loss_.losses[-1] == pytest.approx(loss(fresh, others), abs=0.06)
    assert loss(made, vectors) < loss(fresh, others) - 0.05


def test_gains_are_measured_on_the_models_own_lists(make_problem):
    """Rare labels stand just below the list; taken by g − τ·log(n+1) they are on it, and offsets put them first."""
    made = make_problem(n=600)
    scores = made.scores + 5.0 * np.log(made.class_counts + 1)
    rows = CalibrationSet.build(ScoreSet(scores, made.labels, class_counts=made.class_counts), 3)
    own, bases = (
        cross_fit(Reranker("extended", n_candidates=3, extended=ExtendedOptions(shortlist_tau=tau)), rows)
        .hits(rows.labels)
        .mean()
        for tau in (5.0, 0.0)
    )
    assert own > bases + 0.05


def test_a_list_of_candidates_needs_no_full_scores(problem, make_vectors):
    vectors, lists = make_vectors(problem.labels), Shortlist.from_scores(problem.scores, 6)
    model = Reranker("extended", n_candidates=6).fit(
        lists, problem.labels, class_counts=problem.class_counts, embeddings=vectors
    )
    assert model.chosen_.to_dict()["shortlist_tau"] == 0.0
    one, other = model.rerank(lists, embeddings=vectors), model.rerank(problem.scores, embeddings=vectors)
    assert one.scores.tobytes() == other.scores.tobytes()
    attached = model.rerank(lists.with_embeddings(vectors))
    assert attached.scores.tobytes() == one.scores.tobytes()


def test_ragged_lists_work(make_problem, make_vectors):
    made = make_problem(ragged=True, n=500)
    vectors = make_vectors(made.labels)
    model = Reranker("extended", n_candidates=6).fit(
        made.scores, made.labels, class_counts=made.class_counts, embeddings=vectors
    )
    ranking = model.rerank(made.scores, embeddings=vectors)
    assert (np.isfinite(ranking.scores) == (ranking.ids >= 0)).all()
    empty = model.rerank(np.full((1, K), -np.inf), embeddings=vectors[:1])
    assert (empty.ids == -1).all()


def test_names_may_be_used_everywhere(problem, make_vectors):
    names = np.array([f"c{place:02}" for place in range(K)])
    vectors, labels = make_vectors(problem.labels), names[problem.labels]
    reference = np.append(labels[:30], ["nobody"] * 5)
    model = Reranker("extended", n_candidates=6).fit(
        problem.scores,
        labels,
        class_names=list(names),
        class_counts=dict(zip(names, problem.class_counts, strict=True)),
        embeddings=vectors,
        reference_embeddings=vectors[:35],
        reference_labels=reference,
    )
    assert model.predict(problem.scores[:3], embeddings=vectors[:3]).dtype.kind == "U"
    assert "330 labelled rows" in " ".join(model.fit_summary_.notes)


def test_many_classes_do_without_context(make_vectors):
    rng = np.random.default_rng(0)
    n_classes = MOST_CLASSES + 1
    labels = rng.integers(0, 30, size=200)
    ids = np.column_stack([labels, 30 + rng.integers(0, n_classes - 30, size=200)])
    lists = Shortlist.from_candidates(ids, rng.normal(size=(200, 2)), n_classes)
    model = Reranker("extended", n_candidates=2).fit(lists, labels, embeddings=make_vectors(labels, n_classes=30))
    assert "context" not in model.weights_
    assert f"context is left out: {n_classes} classes are more than {MOST_CLASSES}" in " ".join(
        model.fit_summary_.notes
    )
    assert {"neighbours", "head"} <= set(model.weights_)


@pytest.mark.parametrize("k", [1, 2])
def test_the_shortest_lists(embedded, problem, make_vectors, k):
    model = embedded(known={"groups": np.arange(300) % 7}).clone(n_candidates=k, extended=ExtendedOptions(n_ranked=k))
    vectors = make_vectors(problem.labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(problem.scores, problem.labels, class_counts=problem.class_counts, embeddings=vectors)
    assert model.rerank(problem.scores, embeddings=vectors).ids.shape == (300, k)
    assert ("context" in model.weights_) == (k > 1)


def test_with_vectors_more_classes_are_ranked_than_returned(embedded, new_rows, tmp_path):
    rows, vectors = new_rows
    model, short = embedded(), embedded(extended=ExtendedOptions(n_ranked=1))
    assert (model.state.width, short.state.width) == (K, rows.k)  # of the 20 classes, all are ranked
    assert model.shortlist(rows.scores, vectors).n_candidates == K
    ranking = model.rerank(rows.scores, embeddings=vectors)
    assert ranking.ids.shape == (len(rows.labels), rows.k)
    base_first = rows.scores.argmax(axis=1)
    assert (ranking.ids == base_first[:, None]).any(axis=1).all()
    assert hit(model, rows, vectors) > hit(short, rows, vectors)
    for row in range(20):
        explained = model.explain(rows.scores[row], embeddings=vectors[row]).candidates
        assert [candidate.class_id for candidate in explained] == ranking.ids[row].tolist()
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors").rerank(rows.scores, embeddings=vectors)
    assert (again.ids == ranking.ids).all()
    assert (again.scores == ranking.scores).all()


def test_without_vectors_or_with_fast_no_more_classes_are_ranked(embedded, problem):
    assert embedded(with_vectors=False).state.width == problem.k
    assert embedded(extended=ExtendedOptions(fast=True)).state.width == problem.k
    assert embedded(with_vectors=False, extended=ExtendedOptions(n_ranked=15)).state.width == 15
    assert embedded(with_vectors=False, extended=ExtendedOptions(n_ranked=99)).state.width == K


def test_a_number_of_ranked_classes_without_all_scores_is_noted(problem):
    lists = Shortlist.from_scores(problem.scores, problem.k)
    model = Reranker("extended", n_candidates=problem.k, extended=ExtendedOptions(n_ranked=15))
    model.fit(lists, problem.labels, class_counts=problem.class_counts)
    assert "n_ranked=15 has no effect, because only shortlists were given" in model.fit_summary_.notes


def test_degenerate_vectors_and_groups(embedded, problem):
    zeros = embedded(known={"embeddings": np.zeros((300, 3))})
    assert np.isfinite(zeros.rerank(problem.scores, embeddings=np.zeros((300, 3))).scores).all()
    alone = embedded(known={"groups": np.zeros(300)})
    assert not {"context", "neighbours", "head"} & set(alone.weights_)
    assert "context is left out: it needs covered rows of at least two groups" in " ".join(alone.fit_summary_.notes)
    assert len(alone.rerank(problem.scores)) == 300  # it looks at no vectors, and asks for none
    two = embedded(known={"groups": np.arange(300) % 2})
    assert {"context", "neighbours", "head"} <= set(two.weights_)
    empty = {"reference_embeddings": np.zeros((0, 8)), "reference_labels": np.zeros(0, dtype=int)}
    assert embedded(known=empty).weights_ == embedded().weights_


def test_weights_and_terms_are_as_asked_for(embedded):
    assert list(embedded(terms=("score_gap", "head")).weights_) == ["score_gap", "head"]
    assert embedded(terms=()).weights_ == {}
    assert embedded().with_chosen_parameters().extended.shortlist_tau == embedded().chosen_.to_dict()["shortlist_tau"]


@pytest.mark.parametrize(
    ("options", "known", "message"),
    [
        ({"terms": ("neighbours",)}, {"embeddings": None}, "the term 'neighbours' needs embeddings; pass embeddings=…"),
        ({"terms": ("head",)}, {"embeddings": None}, "the term 'head' needs embeddings"),
        ({"terms": ("context", "context")}, {}, "terms repeats a name"),
        ({"terms": 7}, {}, "terms is 7; pass a sequence"),
        ({"terms": "context"}, {}, "terms is 'context'; pass a sequence"),
        ({"terms": ("nope",)}, {}, "no term 'nope'"),
        (
            {"extended": ExtendedOptions(shortlist_tau=1.0)},
            {"class_counts": None},
            "shortlist_tau .* needs class_counts",
        ),
        ({"lambda_a": 0.1}, {}, "mode 'extended' chooses lambda_a itself; leave lambda_a out"),
        ({"tau": 1.0}, {}, "leave tau out"),
        ({}, {"embeddings": np.zeros((3, 4))}, "embeddings has 3 rows, but there are 300"),
        ({}, {"reference_labels": [0]}, "belong together; pass both or neither"),
        ({}, {"reference_embeddings": np.zeros((1, 8))}, "belong together"),
        (
            {},
            {"embeddings": None, "reference_labels": [0], "reference_embeddings": np.zeros((1, 8))},
            "reference_embeddings was passed without embeddings of the calibration rows",
        ),
        ({}, {"reference_labels": [0], "reference_embeddings": np.zeros((1, 3))}, "reference_embeddings has 3 columns"),
        ({}, {"reference_labels": [0], "reference_embeddings": np.zeros((2, 8))}, "reference_embeddings has 2 rows"),
        ({}, {"reference_labels": [K], "reference_embeddings": np.zeros((1, 8))}, r"reference_labels\[0\] is 20"),
        ({}, {"reference_labels": 3, "reference_embeddings": np.zeros((1, 8))}, r"reference_labels has shape \(\)"),
        ({}, {"reference_labels": ["x"], "reference_embeddings": np.zeros((1, 8))}, "labels are names"),
    ],
)
def test_what_cannot_be_fitted_is_refused(embedded, options, known, message):
    with pytest.raises(InputError, match=message):
        embedded(known=known, **options)


def test_a_tau_that_loses_every_label_is_refused_by_name(problem):
    counts = np.append(problem.class_counts, 1.0)
    scores = np.column_stack([problem.scores, np.full(300, 50.0)])
    labels, counts[:3] = np.minimum(problem.labels, 2), 1e6
    with pytest.raises(InputError, match=r"shortlists of shortlist_tau=10: none of the 300"):
        Reranker("extended", n_candidates=3, extended=ExtendedOptions(shortlist_tau=10.0)).fit(
            scores, labels, class_counts=counts
        )


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (None, "this model reads embeddings of 8 numbers per row; pass embeddings=…"),
        (np.zeros((2, 5)), "embeddings has 5 columns; expected 8"),
        (np.zeros((3, 8)), "embeddings has 3 rows, but there are 2"),
        (np.full((2, 8), np.nan), r"embeddings\[0, 0\] is nan"),
        ([[1.0], [1.0, 2.0]], "embeddings cannot be read as an array"),
        ("x", "embeddings has dtype"),
    ],
)
@pytest.mark.parametrize("what", ["rerank", "predict", "predict_proba"])
def test_rows_without_their_vectors_are_refused(embedded, problem, what, vectors, message):
    with pytest.raises(InputError, match=message):
        getattr(embedded(), what)(problem.scores[:2], embeddings=vectors)


def test_scores_that_are_no_array_are_refused_as_ever(embedded):
    model = embedded(with_vectors=False, extended=ExtendedOptions(shortlist_tau=0.5))
    with pytest.raises(InputError, match="scores cannot be read as an array"):
        model.rerank([[1.0, 2.0], [3.0]])
    with pytest.raises(InputError, match="scores are over 3 classes, but the model was fitted for 20"):
        model.rerank(np.zeros((2, 3)))


def test_a_failed_fit_leaves_the_old_model(embedded, problem):
    model = embedded()
    with pytest.raises(InputError):
        model.fit(problem.scores, problem.labels, embeddings=np.zeros((3, 8)))
    assert "head" in model.weights_


def test_it_can_be_compared(problem, make_vectors, new_rows):
    fresh, vectors = new_rows
    rows = ScoreSet(problem.scores, problem.labels, class_counts=problem.class_counts)
    learned = ScoreSet(**{**vars(rows), "embeddings": make_vectors(problem.labels)})
    test = ScoreSet(fresh.scores, fresh.labels, embeddings=vectors)
    methods = {
        "Base": Base(6),
        "extended": Reranker("extended", n_candidates=6),
        "pairwise": Reranker("pairwise", n_candidates=6),
    }
    found = compare(methods, learned, test, trials=1, resamples=50, reference="Base")
    gap = found.difference("extended", "Base")["accuracy"]
    assert gap.low > 0.1
    with pytest.raises(InputError, match="reads embeddings of 8 numbers"):
        compare(methods, learned, ScoreSet(fresh.scores, fresh.labels), trials=1, resamples=50)


def test_auto_takes_it_where_vectors_tell_the_label(embedded, new_rows, tmp_path):
    rows, vectors = new_rows
    model = embedded("auto", terms=("score_gap", "rank_gap"))
    assert model.mode_ == "extended"
    assert "Chose extended" in model.auto_.reason
    gain = hit(model, rows, vectors) - (rows.scores.argmax(axis=1) == rows.labels).mean()
    low, high = model.auto_.gain.interval(0.99)
    assert low <= gain <= high
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert (
        again.rerank(rows.scores, embeddings=vectors).scores.tobytes()
        == model.rerank(rows.scores, embeddings=vectors).scores.tobytes()
    )
    frozen = model.with_chosen_parameters().fit(
        rows.scores, rows.labels, class_counts=rows.class_counts, embeddings=vectors
    )
    assert set(frozen.weights_) == set(model.weights_)


def nothing_to_gain(seed):
    """Scores that are the true log posterior."""
    rng = np.random.default_rng(seed)
    log_posterior = rng.normal(size=(250, 10)) * 1.5 - np.log(np.arange(1, 11))
    share = np.exp(log_posterior)
    labels = np.array([rng.choice(10, p=row / row.sum()) for row in share])
    return log_posterior, labels, 1000 / np.arange(1, 11)


@pytest.mark.parametrize("with_vectors", [False, True])
def test_auto_raises_no_false_alarm(with_vectors):
    """Nothing is to gain and vectors are noise: 5 % of fits may be fooled."""
    fooled = 0
    for seed in range(8):
        log_posterior, labels, counts = nothing_to_gain(seed)
        known = {"embeddings": np.random.default_rng(seed + 50).normal(size=(250, 12))} if with_vectors else {}
        fooled += (
            Reranker("auto", n_candidates=5).fit(log_posterior, labels, class_counts=counts, **known).mode_ != "base"
        )
    assert fooled <= 1


def test_what_auto_chose_can_be_frozen_although_other_rungs_were_told_something():
    """Base is kept, for which neither terms nor a τ of the list mean anything."""
    log_posterior, labels, counts = nothing_to_gain(0)
    model = Reranker("auto", n_candidates=5, terms=("score_gap",), extended=ExtendedOptions(shortlist_tau=0.3))
    model.fit(log_posterior, labels, class_counts=counts)
    assert model.mode_ == "base"
    assert model.with_chosen_parameters().fit(log_posterior, labels, class_counts=counts).mode_ == "base"


def test_the_verdict_says_that_it_is_worth_it(problem, embedded):
    from repair.diagnosis.judging import judge_auto

    model = embedded("auto")
    rows = CalibrationSet.build(ScoreSet(problem.scores, problem.labels, class_counts=problem.class_counts), 6)
    verdict = judge_auto(rows, model.auto_)
    assert verdict.answer == "more than offsets is worth it"
    assert verdict.headline.startswith("Use the Extended correction: accuracy rises from ")
    small = next(candidate for candidate in model.auto_.candidates if candidate.few_terms)
    assert judge_auto(rows, replace(model.auto_, chosen=small)).answer == "offsets suffice"


def test_a_diagnosis_without_vectors_still_works(problem):
    found = diagnose(problem.scores, problem.labels, class_counts=problem.class_counts, n_candidates=6, draws=20)
    assert found.verdict.answer


def test_very_many_kept_rows_are_announced_before_the_fit(embedded, monkeypatch):
    monkeypatch.setattr("repair.terms.learned.neighbours.MANY_BYTES", 1000)
    said = r"keep 300 labelled rows as vectors of 8 float16 numbers \(0 MB\); pass fewer reference rows"
    with pytest.warns(InputWarning, match=said):
        embedded()
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)
        embedded(terms=("score_gap", "head"))
        embedded(with_vectors=False)


@pytest.mark.needs("usearch")
def test_an_approximate_index_gives_nearly_the_same_and_is_built_again_after_loading(embedded, new_rows, tmp_path):
    rows, vectors = new_rows
    exact, near = embedded(), embedded(extended=ExtendedOptions(neighbour_index="approximate"))
    one, other = (model.rerank(rows.scores, embeddings=vectors) for model in (exact, near))
    assert (one.best == other.best).mean() > 0.98
    assert "index is not kept; it is built when the model is first used" in " ".join(near.fit_summary_.notes)
    near.save(tmp_path / "one")
    again = load(tmp_path / "one")
    term = next(term for term in again.state.correction.terms if term.name == "neighbours")
    assert "graph" not in vars(term)
    assert again.rerank(rows.scores, embeddings=vectors).scores.tobytes() == other.scores.tobytes()
    assert "graph" in vars(term)
    again.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert repr(again) == (
        "Reranker(mode='extended', n_candidates=6, "
        "extended=ExtendedOptions(shortlist_tau=None, n_ranked=None, neighbour_index='approximate', fast=False))"
    )


def test_without_the_extra_the_approximate_index_is_refused_before_the_fit(embedded, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'repair-rerank\[neighbours\]'"):
        embedded(extended=ExtendedOptions(neighbour_index="approximate"))
    embedded()


def test_there_are_two_kinds_of_index(embedded):
    with pytest.raises(InputError, match="neighbour_index is 'fast'; choose one of 'exact', 'approximate'"):
        ExtendedOptions(neighbour_index="fast")
    with pytest.raises(InputError, match=r"shortlist_tau is -1.0"):
        ExtendedOptions(shortlist_tau=-1.0)


def test_a_column_that_is_constant_up_to_rounding_does_not_stop_the_solver():
    """With two classes, score_by_frequency has equal values for both candidates of a row."""
    rng = np.random.default_rng(42)
    lead = rng.normal(size=80) * 0.4
    model = Reranker("extended", n_candidates=2, terms=("score_by_frequency",))
    model.fit(np.column_stack([lead, -lead]), rng.integers(0, 2, size=80), class_counts=[43, 57])
    assert model.converged_
