"""The interface that all rivals share."""

import numpy as np
import pytest

from repair import InputError, ScoreSet, Shortlist
from repair.rerankers.rivals.rival import ScoreRival
from repair_bench.harness.methods import METHODS

RIVALS = {name: method for name, method in METHODS.items() if isinstance(method.make(3, None), ScoreRival)}
#: The rivals that are fitted quickly.
FAST = [name for name in RIVALS if not name.startswith(("lightgbm", "stack"))]
pytestmark = pytest.mark.needs("lightgbm")


def test_all_rivals_of_the_plan_are_there():
    assert len(RIVALS) == 19  # three of them are class-balanced variants
    assert all(method.own_list for method in RIVALS.values())


@pytest.mark.parametrize("name", RIVALS)
def test_a_rival_keeps_the_base_if_there_is_nothing_to_correct(name, world, accuracy, base_accuracy):
    calibration, test = world.rows(400), world.rows(1500)
    blind = {"embeddings": world.rng.normal(size=(400, 6))}  # vectors that say nothing
    calibration = ScoreSet(calibration.scores, calibration.labels, class_counts=np.full(8, 50.0), **blind)
    test = ScoreSet(test.scores, test.labels, embeddings=world.rng.normal(size=(1500, 6)))
    model = RIVALS[name].make(3, None).fit(calibration)
    expected = 0.1 if name == "retrained_head" else base_accuracy(test) - 0.025  # the head alone has nothing to read
    assert accuracy(model, test) > expected


@pytest.mark.parametrize("name", FAST)
def test_a_class_without_labels_can_still_win(name, world):
    calibration = world.rows(300, classes=7)
    model = RIVALS[name].make(3, None).fit(calibration)
    scores = np.zeros((40, 8))
    scores[:, 7] = 30.0
    ranking = model.rerank(scores, embeddings=world.rng.normal(size=(40, 6)))
    assert np.isfinite(ranking.scores).all()
    if name != "retrained_head":
        assert (ranking.best == 7).mean() > 0.9


@pytest.mark.parametrize("name", ["vector_scaling", "gda", "em_prior"])
def test_unknown_labels_and_missing_scores_are_left_out(name, world):
    rows = world.rows(200)
    labels, scores = np.array(rows.labels), np.array(rows.scores)
    labels[:20] = -1
    scores[30, :5] = -np.inf
    labels[30] = 6
    model = RIVALS[name].make(4, None).fit(ScoreSet(scores, labels, embeddings=rows.embeddings))
    ranking = model.rerank(scores[30:32], embeddings=rows.embeddings[30:32])
    assert set(ranking.ids[0]) == {5, 6, 7, -1}
    np.testing.assert_allclose(ranking.probabilities.sum(axis=1), 1.0)
    assert model.fit_summary_.n_unknown == 20


def test_the_chosen_values_are_kept_for_the_fits_of_trials(world):
    rows = world.rows(200)
    model = RIVALS["tip_adapter"].make(3, None).fit(rows)
    again = model.with_chosen_parameters()
    assert not again.is_fitted
    assert again.chosen == model.chosen_.to_dict()
    assert again.clone().fit(rows.take(np.arange(150))).chosen_.to_dict() == model.chosen_.to_dict()
    assert repr(RIVALS["gda"].make(3, None)) == "Gda(n_candidates=3)"
    assert (model.mode_, model.can_fit("tip_adapter"), model.uses_all_scores) == ("tip_adapter", True, True)


def test_the_ranking_knows_the_base_order_and_takes_a_dial(world):
    rows = world.rows(200, class_counts=np.array([900, 90, 9, 9, 9, 9, 9, 1]))
    model = RIVALS["vector_scaling"].make(3, None).fit(rows)
    ranking, towards_rare = model.rerank(rows.scores), model.rerank(rows.scores, dial=5.0)
    base = np.take_along_axis(np.asarray(rows.scores), ranking.ids, axis=1)
    np.testing.assert_array_equal(np.argsort(np.argsort(-base, axis=1), axis=1), ranking.order)
    assert (towards_rare.best == 7).mean() > (ranking.best == 7).mean()


def test_missing_inputs_are_named(world):
    rows = world.rows(60)
    with pytest.raises(InputError, match="embeddings"):
        RIVALS["gda"].make(3, None).fit(rows.scores, rows.labels)
    with pytest.raises(InputError, match="scores of all classes"):
        RIVALS["vector_scaling"].make(3, None).fit(Shortlist.from_scores(rows.scores, 3), rows.labels)
    model = RIVALS["gda"].make(3, None).fit(rows)
    with pytest.raises(InputError, match="embeddings of 6"):
        model.rerank(rows.scores)
    with pytest.raises(InputError, match="Shortlist"):
        model.rerank(Shortlist.from_scores(rows.scores, 3))
    with pytest.raises(InputError, match="7 classes"):
        model.rerank(np.asarray(rows.scores)[:, :7], embeddings=rows.embeddings)
    with pytest.raises(InputError, match="no contributions"):
        model.explain(Shortlist.from_scores(rows.scores, 3).take([0]), embeddings=rows.embeddings[:1])


@pytest.mark.parametrize("name", [name for name in FAST if name not in ("em_prior", "bbse")])
def test_a_row_is_ranked_the_same_alone_and_in_a_batch(name, world):
    rows, test = world.rows(200), world.rows(30)
    model = RIVALS[name].make(3, None).fit(rows)
    whole = model.rerank(test.scores, embeddings=test.embeddings)
    alone = model.rerank(test.scores[4], embeddings=test.embeddings[4])
    np.testing.assert_allclose(alone.scores[0], whole.scores[4], rtol=1e-4, atol=1e-4)
