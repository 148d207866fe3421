"""Adding classes after the fit."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from repair import Base, InputError, Reranker, Shortlist, ShrinkageOptions, TauNormalization, load

K = 20
NAMES = [f"c{i:02}" for i in range(K)]


def fitted(problem, mode="pairwise", **options):
    similarity = options.pop("similarity", problem.similarity)
    model = Reranker(mode, n_candidates=problem.k, **options)
    return model.fit(
        problem.scores, problem.labels, class_names=NAMES, class_counts=problem.class_counts, similarity=similarity
    )


def wider(scores, value=-np.inf):
    return np.column_stack([scores, np.full(len(scores), value)])


@pytest.mark.parametrize("shrinkage", [False, "eb"])
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_without_new_classes_are_ranked_as_before(problem, shrinkage, sparse):
    similarity = csr_matrix(np.where(problem.similarity > 0.5, problem.similarity, 0)) if sparse else problem.similarity
    model = fitted(problem, shrinkage=shrinkage, lambda_a=1e-3, similarity=similarity)
    before, after = model.rerank(problem.scores), model.with_classes(["new"]).rerank(wider(problem.scores))
    assert (before.ids == after.ids).all()
    np.testing.assert_allclose(before.scores, after.scores, atol=1e-9)


def test_offset_and_count_are_those_of_the_group(problem):
    model = fitted(problem, shrinkage=False, lambda_a=1e-3)
    groups = {name: "head" if i < 5 else "tail" for i, name in enumerate(NAMES)} | {"x": "head", "y": "other"}
    more = model.with_classes(["x", "y"], groups, {"y": 7})
    assert more.offsets_[K] == pytest.approx(model.offsets_[:5].mean())
    assert more.offsets_[K + 1] == pytest.approx(model.offsets_.mean())
    assert np.log(more.class_counts_[K] + 1) == pytest.approx(np.log(problem.class_counts[:5] + 1).mean())
    assert more.class_counts_[K + 1] == 7
    assert len(model.offsets_) == K


def test_the_offset_is_the_prior_mean_if_offsets_were_shrunk(problem):
    model = fitted(problem, "classwise", shrinkage=ShrinkageOptions("eb", frequency_bins=2), lambda_a=1e-3)
    codes, means = model.shrinkage_.prior.groups, model.shrinkage_.prior.means
    groups = {name: int(code) for name, code in zip(NAMES, codes, strict=True)} | {"new": 1}
    more = model.with_classes(["new", "lost"], groups)
    assert more.offsets_[K] == pytest.approx(means[1])
    assert means[1] != pytest.approx(model.offsets_[codes == 1].mean(), abs=1e-12)
    assert more.offsets_[K + 1] == pytest.approx(model.offsets_.mean())
    assert more.shrinkage_.prior.class_means[K] == pytest.approx(means[1])
    assert more.shrinkage_.prior.class_means[K + 1] == pytest.approx(model.offsets_.mean())
    assert more.unseen_classes_.tolist()[-2:] == [K, K + 1]


@pytest.mark.parametrize("sparse", [False, True])
def test_similarity_to_a_new_class_is_the_mean_similarity_of_known_classes(problem, sparse):
    table = problem.similarity
    model = fitted(problem, similarity=csr_matrix(table) if sparse else table)
    similarity = model.with_classes(["p", "q"])._state.correction.table.similarity
    mean = table[~np.eye(K, dtype=bool)].mean()
    pairs = Shortlist.from_candidates([[3, K], [K, K + 1], [3, 4]], [[2.0, 1.0]] * 3, K + 2)
    average = similarity.average_over_rivals(pairs.ids, pairs.lengths)
    np.testing.assert_allclose(average[:2], mean)
    np.testing.assert_allclose(average[2], [table[3, 4], table[4, 3]])


def test_an_extended_model_can_be_saved_and_extended_again(problem, tmp_path):
    more = (
        fitted(problem, shrinkage=ShrinkageOptions("eb", frequency_bins=2), lambda_a=1e-3)
        .with_classes(["new"])
        .with_classes(["newer"])
    )
    more.save(tmp_path / "m.safetensors")
    scores = wider(wider(problem.scores, 1.0), 2.0)
    again = load(tmp_path / "m.safetensors")
    assert (again.rerank(scores).ids == more.rerank(scores).ids).all()
    assert again.predict([[*[0.0] * (K + 1), 50.0]]).dtype.kind == "i"


def test_per_class_factors_are_extended_by_their_median(problem):
    norms = np.linspace(1, 3, K)
    model = TauNormalization(problem.k, tau=0.5).fit(problem.scores, problem.labels, weight_norms=norms)
    more = model.with_classes(["new"])
    scale = more._state.correction.scale
    assert scale[K] == np.median(scale[:K])
    assert len(more.rerank(wider(problem.scores, 0.3)).ids) == len(problem.scores)


def test_a_model_without_names_uses_class_ids_as_names(problem):
    model = Base(3).fit(problem.scores, problem.labels)
    more = model.with_classes(["new"])
    assert more.explain([*[0.0] * K, 5.0]).candidates[0].name == "new"
    assert more.explain([*[0.0] * K, 5.0]).candidates[1].name == "0"


@pytest.mark.parametrize(
    ("names", "message"),
    [([], "new_names is empty"), (["c03"], "'c03' is already known to the model"), (["x", "x"], "twice|distinct")],
)
def test_names_that_are_not_new_raise_an_error(problem, names, message):
    with pytest.raises(InputError, match=message):
        fitted(problem, "classwise").with_classes(names)


def test_a_similarity_function_cannot_be_extended(problem):
    model = fitted(problem, similarity=lambda left, right: np.ones(len(left)))
    with pytest.raises(InputError, match="similarity is a function"):
        model.with_classes(["new"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([""],), r"new_names\[0\] is empty"),
        ((["wolf"], [1]), "class_groups is list"),
        ((["wolf"], None, 5), "class_counts is int"),
    ],
)
def test_invalid_names_and_mappings_raise_an_error(problem, arguments, message):
    model = Reranker("classwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    with pytest.raises(InputError, match=message):
        model.with_classes(*arguments)
