"""Each kind of bad input gets its named error: the place, the value, the remedy; and nothing is changed."""

import warnings

import numpy as np
import pytest

from repair import InputError, InputWarning, Ranking, Reranker, Shortlist, evaluate
from repair.evaluation.metrics import hit_rate


def fit(scores=None, labels=None, **known):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, size=40) if labels is None else labels
    scores = rng.normal(size=(40, 5)) if scores is None else scores
    return Reranker("classwise", n_candidates=3).fit(scores, labels, **known)


def with_value(value, dtype=np.float64):
    scores = np.random.default_rng(0).normal(size=(40, 5)).astype(dtype)
    scores[7, 3] = value
    return scores


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, r"scores\[7, 3\] is nan; scores must be finite \(−Inf marks a class that is not a candidate\)"),
        (np.inf, r"scores\[7, 3\] is inf"),
    ],
)
def test_nan_and_infinite_scores(value, message, dtype):
    with pytest.raises(InputError, match=message):
        fit(with_value(value, dtype))


@pytest.mark.parametrize("value", [1e35, -1e35, np.finfo(np.float64).min])
def test_masks_in_disguise(value):
    with pytest.raises(InputError, match=r"scores\[7, 3\] is .*beyond ±1e\+30.*or use −Inf"):
        fit(with_value(value))


@pytest.mark.parametrize("n_rows", [40, 20_000])
def test_the_first_bad_row_is_named_in_small_and_large_inputs(n_rows):
    scores = np.zeros((n_rows, 5))
    scores[n_rows - 5, 2] = scores[n_rows - 2, 0] = np.nan
    with pytest.raises(InputError, match=rf"scores\[{n_rows - 5}, 2\] is nan"):
        Shortlist.from_scores(scores, 3)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.full(40, 5), r"labels\[0\] is 5; labels are class ids from 0 to 4, or −1"),
        (np.r_[np.zeros(39, int), -2], r"labels\[39\] is -2"),
        (np.r_[np.zeros(39), 1.5], r"labels\[39\] is 1.5"),
        (np.r_[np.zeros(39), np.nan], r"labels\[39\] is nan"),
        (np.zeros(39, int), r"labels has shape \(39,\); expected one label for each of 40 rows"),
        (np.zeros((40, 1), int), r"labels has shape \(40, 1\).*flatten it with .ravel\(\)"),
        (np.arange(40) % 5 + 1, r"labels\[4\] is 5; .*are they counted from 1\?"),
        (["cat"] * 40, r"labels are names \(the first is 'cat'\); pass class_names"),
        (np.zeros(40, complex), "dtype complex128"),
    ],
)
def test_labels(labels, message):
    with pytest.raises(InputError, match=message):
        fit(labels=labels)


def test_whole_floats_are_labels():
    labels = np.random.default_rng(0).integers(0, 5, size=40)
    assert (fit(labels=labels.astype(float)).offsets_ == fit(labels=labels).offsets_).all()


@pytest.mark.parametrize(
    ("ids", "scores", "message"),
    [
        ([[1, 2, 1]], [[1.0, 2.0, 3.0]], "row 0 lists class 1 twice; keep one entry per candidate"),
        ([[0, 1], [3, 3]], [[1.0, 2.0]] * 2, "row 1 lists class 3 twice"),
        ([[0, 5]], [[1.0, 2.0]], r"candidate ids\[0, 1\] is 5; ids run from 0 to 4, −1 is padding"),
        ([[0, -2]], [[1.0, 2.0]], r"candidate ids\[0, 1\] is -2"),
        ([[0, 1.5]], [[1.0, 2.0]], r"candidate ids\[0, 1\] is 1.5; class ids are whole numbers"),
        ([[0, np.nan]], [[1.0, 2.0]], r"candidate ids\[0, 1\] is nan"),
        ([[0, 1]], [[1.0, np.nan]], r"candidate scores\[0, 1\] is nan"),
        ([[0, 1]], [[1.0, np.inf]], r"candidate scores\[0, 1\] is inf"),
        ([[0, 1]], [[1.0, 1e35]], r"candidate scores\[0, 1\] is 1e\+35, beyond"),
        ([[0, 1]], [[1.0, 2.0, 3.0]], "the shapes must match"),
        (np.zeros((0, 3), int), np.zeros((0, 3)), "at least one row"),
        (np.zeros((3, 0), int), np.zeros((3, 0)), "one candidate"),
        ([[0, 1], [2]], [[1.0, 2.0], [3.0, 4.0]], "row 1 has 1 candidate ids, but 2 scores"),
        ([[0, 1], ["a"]], [[1.0, 2.0], [3.0]], "pass real numbers"),
        ([["a", "b"]], [[1.0, 2.0]], "pass real numbers"),
        ([0, 1], [1.0, 2.0], "expected 2 dimensions"),
    ],
)
def test_candidates(ids, scores, message):
    with pytest.raises(InputError, match=message):
        Shortlist.from_candidates(ids, scores, n_classes=5)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.zeros((0, 5)), "scores has no rows; pass at least one"),
        (np.zeros((4, 1)), "at least two classes"),
        (np.zeros((4, 0)), "at least two classes"),
        (np.zeros((2, 3, 4)), r"scores has shape \(2, 3, 4\); expected 2 dimensions"),
        (np.array([["a", "b"]]), "pass real numbers"),
        ([[1.0, 2.0], [3.0]], "cannot be read as an array"),
        (3.0, r"scores has shape \(\)"),
        (None, "dtype object"),
        (np.ma.masked_greater(np.arange(6.0).reshape(2, 3), 4), "scores has masked entries; fill them first"),
        (np.zeros((2, 3), np.longdouble), "pass float64"),
    ],
)
def test_shapes_and_types_of_scores(scores, message):
    with pytest.raises(InputError, match=message):
        Shortlist.from_scores(scores, 3)


def test_wrong_number_of_classes_at_rerank():
    with pytest.raises(InputError, match="scores are over 6 classes, but the model was fitted for 5"):
        fit().rerank(np.zeros((2, 6)))


def test_no_covered_row():
    scores = np.tile(np.arange(5.0), (40, 1))
    with pytest.raises(InputError, match="none of the 40 calibration rows has its label on the shortlist"):
        fit(scores, np.zeros(40, int))


def test_only_one_class_among_the_covered_rows():
    with pytest.raises(InputError, match=r"every covered calibration row has the same label \(4\)"):
        fit(labels=np.full(40, 4))


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"class_counts": np.ones(4)}, "class_counts has 4 entries, but there are 5 classes"),
        (
            {"class_counts": [1, 2, -3, 4, 5]},
            r"class_counts\[2\] is -3.0; every class needs a finite",
        ),
        ({"class_counts": [1, 2, np.nan, 4, 5]}, r"class_counts\[2\] is nan"),
        ({"class_counts": np.zeros(5)}, "class_counts is zero everywhere"),
        ({"class_counts": ["many"] * 5}, "class_counts has dtype"),
        ({"class_weights": -np.ones(5)}, r"class_weights\[0\] is -1.0"),
        ({"sample_weight": -np.ones(40)}, r"sample_weight\[0\] is -1.0; every row needs"),
        ({"sample_weight": np.ones(39)}, "sample_weight has 39 entries, but there are 40 rows"),
        ({"sample_weight": np.zeros(40)}, "sample_weight is zero everywhere"),
        (
            {"weight_norms": np.zeros(5)},
            r"weight_norms\[0\] is 0.0; every class needs .* that is positive",
        ),
        ({"similarity": np.zeros((5, 4))}, r"similarity has shape \(5, 4\)"),
        ({"groups": np.arange(39)}, r"groups has shape \(39,\); expected 40 entries"),
        ({"groups": np.r_[np.arange(39.0), np.nan]}, r"groups\[39\] is NaN"),
        ({"groups": ["a"] * 39 + [None]}, r"groups\[39\] is None"),
        ({"groups": np.array(["NaT"] * 40, "M8[D]")}, r"groups\[0\] is NaT"),
        (
            {"similarity": np.full((5, 5), 1e300)},
            r"similarity\[0, 0\] is 1e\+300; similarities must be finite",
        ),
        ({"class_names": {"a", "b", "c", "d", "e"}}, "class_names is set; pass a sequence"),
        ({"class_groups": np.arange(4)}, r"class_groups has shape \(4,\)"),
        ({"class_names": list("abc")}, "class_names has 3 entries, but there are 5 classes"),
        ({"class_names": list("abcab")}, "class_names repeats 'a' at 0 and 3"),
        ({"class_names": 5}, "class_names is int; pass a sequence of 5 names"),
        ({"class_names": "abcde"}, "class_names is str; pass a sequence of 5 names"),
        ({"class_names": dict.fromkeys("abcde")}, "class_names is dict"),
        (
            {"class_names": [1, "b", 3, 4, 5]},
            r"class_names\[0\] is 1, not text; pass all names as text, and labels too",
        ),
        ({"class_names": [0.5, 1, 2, 3, 4]}, r"class_names\[0\] is 0.5, not text"),
        (
            {"class_counts": [0.5, 0.2, 0.1, 0.1, 0.1]},
            "class_counts adds up to 1; pass numbers of examples",
        ),
        ({"class_counts": {0: 9, 1: 8}}, "class_counts has no entry for class 2; every class needs one"),
        ({"class_counts": dict.fromkeys(range(6), 9)}, "class_counts has an entry for 5, which is not one of the 5"),
        ({"class_counts": {"a": 9}}, r"class_counts has class names as keys \(such as 'a'\); pass class_names as well"),
    ],
)
def test_class_and_row_tables(known, message):
    with pytest.raises(InputError, match=message):
        fit(**known)


def test_all_weight_on_uncovered_rows():
    scores = np.tile(np.arange(5.0), (40, 1))
    labels = np.array([0] * 20 + [4] * 20)
    with pytest.raises(InputError, match="all covered rows have weight 0"):
        fit(scores, labels, sample_weight=np.array([1.0] * 20 + [0.0] * 20))


def test_input_error_is_a_value_error_and_not_fitted_is_an_attribute_error():
    from repair import ArtifactError, NotFittedError

    assert issubclass(InputError, ValueError)
    assert issubclass(ArtifactError, ValueError)
    assert issubclass(NotFittedError, ValueError)
    assert issubclass(NotFittedError, AttributeError)


def test_an_unknown_label_is_an_uncovered_row_not_an_error():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, size=40)
    labels[[3, 9]] = -1
    model = fit(labels=labels)
    assert model.fit_summary_.n_rows == 40
    assert model.fit_summary_.n_covered <= 38


def test_clipping_is_warned_of_once_per_call():
    rng = np.random.default_rng(0)
    with pytest.warns(InputWarning, match="using 5") as caught:
        Reranker("classwise", n_candidates=50).fit(rng.normal(size=(80, 5)), rng.integers(0, 5, 80))
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_nothing_passed_in_is_modified_even_when_refused():
    scores = with_value(np.nan)
    labels, counts = np.arange(40) % 5, np.ones(5)
    kept = scores.copy(), labels.copy(), counts.copy()
    for array in (scores, labels, counts):
        array.setflags(write=False)
    with pytest.raises(InputError):
        fit(scores, labels, class_counts=counts)
    for array, before in zip((scores, labels, counts), kept, strict=True):
        np.testing.assert_array_equal(array, before)


def test_metrics_check_their_labels():
    shortlist = Shortlist.from_scores(np.eye(3), 2)
    ranking = Ranking.from_scores(shortlist, shortlist.scores)
    with pytest.raises(InputError, match=r"labels\[2\] is 9"):
        evaluate(ranking, [0, 1, 9])
    with pytest.raises(InputError, match="expected one label for each of 3 rows"):
        evaluate(ranking, [0, 1])
    with pytest.raises(InputError, match="at is 0"):
        hit_rate(ranking, [0, 1, 2], at=0)


def test_metrics_want_a_ranking():
    with pytest.raises(InputError, match=r"evaluate takes the Ranking that rerank\(\) returns, but got ndarray"):
        evaluate(np.zeros((3, 2)), [0, 1, 2])


def warnings_of(scores, labels, **known):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Reranker("classwise", n_candidates=3).fit(scores, labels, **known)
    assert all(warning.filename == __file__ for warning in caught)
    return " | ".join(str(warning.message) for warning in caught)


def sound_problem(n=200):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 8, size=n)
    return rng.normal(size=(n, 8)) + 2 * np.eye(8)[labels], labels


def test_a_sound_problem_gets_no_warning():
    assert warnings_of(*sound_problem()) == ""


def test_rows_without_a_candidate_get_no_warning_from_numpy():
    scores, labels = sound_problem()
    scores[5] = -np.inf
    assert "invalid value" not in warnings_of(scores, labels)


def test_traps_are_warned_of():
    scores, labels = sound_problem()
    share = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert "look like probabilities" in warnings_of(share, labels)
    assert "only 2" in warnings_of(scores, (labels + 3) % 8)
    assert "same class order" in warnings_of(scores, (labels + 3) % 8)
    assert "only 20 calibration rows are covered" in warnings_of(np.eye(8)[labels[:20]] * 9, labels[:20])
    masked = np.where(np.random.default_rng(1).random(scores.shape) < 0.6, -1e9, scores)
    covered = np.isfinite(masked)
    assert covered.all()
    assert "far below the others; if that means 'not a candidate', use −Inf" in warnings_of(masked, labels)


def test_one_candidate_leaves_nothing_to_rerank():
    scores, labels = sound_problem()
    with pytest.warns(InputWarning, match="nothing to rerank"):
        Reranker("classwise", n_candidates=1).fit(scores, labels)


def test_labels_that_are_all_unknown_are_named():
    scores, labels = sound_problem()
    names = list("abcdefgh")
    with pytest.raises(InputError, match=r"none of the labels \(such as 'A'\) is among class_names \(such as 'a'\)"):
        Reranker("classwise", n_candidates=3).fit(scores, np.array(list("ABCDEFGH"))[labels], class_names=names)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [1, 20_000])
def test_the_limit_of_scores_is_the_same_alone_and_in_a_batch(dtype, n_rows):
    scores = np.zeros((n_rows, 8), dtype)
    scores[0, 3] = 1.00001e30
    with pytest.raises(InputError, match="beyond"):
        Shortlist.from_scores(scores, 3)
    scores[0, 3] = 0.99999e30
    assert Shortlist.from_scores(scores, 3).ids[0, 0] == 3


def test_more_classes_than_ids_can_tell_apart_are_refused():
    with pytest.raises(InputError, match="at most 2147483647 classes"):
        Shortlist.from_candidates([[2**32 + 5, 1]], [[1.0, 2.0]], n_classes=2**33)


@pytest.mark.parametrize("missing", [None, np.nan, 7])
def test_a_missing_label_is_never_a_class(missing):
    scores, labels = sound_problem()
    names = ["nan", "None", "7", "(missing)", "e", "f", "g", "h"]
    given = np.array(names, dtype=object)[labels]
    given[:4] = missing
    with pytest.warns(InputWarning, match=r"4 rows have a label .*missing values \(4\)"):
        model = Reranker("classwise", n_candidates=3).fit(scores, given, class_names=names)
    assert model.fit_summary_.n_unknown == 4


def test_bytes_and_variable_width_strings_are_names():
    scores, labels = sound_problem()
    names = [f"naïve {i}" for i in range(8)]
    expected = Reranker("classwise", n_candidates=3).fit(scores, labels).offsets_
    for given in (
        np.char.encode(np.array(names), "utf-8")[labels],
        np.array(names, dtype=np.dtypes.StringDType())[labels],
    ):
        model = Reranker("classwise", n_candidates=3).fit(scores, given, class_names=names)
        assert (model.offsets_ == expected).all()


@pytest.mark.parametrize("weights", [{"sample_weight": np.full(200, 1e308)}, {"class_weights": np.full(8, 1e308)}])
def test_only_ratios_of_weights_matter(weights):
    scores, labels = sound_problem()
    heavy = Reranker("classwise", n_candidates=3, alpha=1.0, tau=2.0).fit(
        scores, labels, class_counts=np.arange(1, 9), **weights
    )
    plain = Reranker("classwise", n_candidates=3, alpha=1.0, tau=2.0).fit(scores, labels, class_counts=np.arange(1, 9))
    np.testing.assert_allclose(heavy.offsets_, plain.offsets_, atol=1e-9)
    shares = heavy.rerank(scores, target_prior=np.full(8, 1e308)).probabilities
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "parameters",
    [{"lambda_a": 10**400}, {"lambda_a": np.longdouble("1e400")}, {"mode": np.array(["classwise"])}, {"terms": 5},
     {"shrinkage": np.array([1, 2])}, {"tol": 10**400}, {"dial": 10**400}, {"terms": np.array(["rank_gap"])}],
)  # fmt: skip
def test_odd_parameters_get_our_error(parameters):
    scores, labels = sound_problem()
    with pytest.raises(InputError):
        Reranker(**{"mode": "pairwise", "n_candidates": 3, **parameters}).fit(scores, labels)


@pytest.mark.parametrize("scale", [1e-12, 1e6, 1e12])
def test_badly_scaled_scores_end_quickly_and_truthfully(scale):
    scores, labels = sound_problem()
    model = Reranker("pairwise", n_candidates=4, terms=("score_gap", "rank_gap"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(scores * scale, labels)
    assert model.converged_ == (model.gradient_norm_ <= 1e-8)
    assert np.isfinite(model.offsets_).all()
    assert model.converged_ or scale > 1e6


def test_rows_shifted_far_away_are_fitted_as_if_they_were_not():
    scores, labels = sound_problem()
    near = Reranker("pairwise", n_candidates=4, terms=("score_gap",)).fit(scores, labels)
    far = Reranker("pairwise", n_candidates=4, terms=("score_gap",)).fit(scores + 1e9, labels)
    assert far.converged_
    np.testing.assert_allclose(near.offsets_, far.offsets_, atol=1e-4)


def test_equal_columns_and_no_penalty_to_speak_of_are_no_error():
    rng = np.random.default_rng(0)
    scores = np.array([rng.permutation(8) for _ in range(300)]).astype(float)  # score gap and rank gap are equal
    labels = np.where(rng.random(300) < 0.7, scores.argmax(axis=1), rng.integers(0, 8, 300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Reranker("pairwise", n_candidates=8, terms=("score_gap", "rank_gap"), lambda_theta=1e-17).fit(
            scores, labels
        )
    assert np.isfinite(list(model.weights_.values())).all()


def test_an_external_scorer_may_say_nan_but_not_infinity():
    shortlist = Shortlist.from_scores(np.eye(3), 2)
    with pytest.raises(InputError, match=r"scores\[1, 0\] is inf"):
        Ranking.from_scores(shortlist, [[0.0, 0.0], [np.inf, 0.0], [0.0, 0.0]])
    with pytest.raises(InputError, match="pass the Shortlist the scores belong to"):
        Ranking.from_scores(np.eye(3), np.eye(3))
