import numpy as np
import pytest

from repair import InputError, Reranker, evaluate, load


def draw(seed, n=400, n_classes=12, bias=0.0, n_groups=None):
    """Labels from a known posterior; base scores are its logarithm plus a class bias."""
    rng = np.random.default_rng(seed)
    counts = np.round(300 / np.arange(1, n_classes + 1)) + 1
    groups = np.arange(n) if n_groups is None else rng.integers(0, n_groups, size=n)
    log_posterior = rng.normal(size=(n, n_classes)) * 1.5 + np.log(counts / counts.sum())
    share = np.exp(log_posterior) / np.exp(log_posterior).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(n_classes, p=row) for row in share])
    shift = bias * np.sin(np.arange(n_classes))
    return log_posterior + shift, labels, counts, groups


def fit(seed, grouped=False, **options):
    scores, labels, counts, groups = draw(seed, **options)
    known = {"groups": groups} if grouped else {}
    return Reranker("auto", n_candidates=6).fit(scores, labels, class_counts=counts, **known)


def test_base_is_kept_where_nothing_can_be_gained():
    """The scores are the true log posterior: a correction that is taken is a false alarm (5 % allowed)."""
    taken = [fit(seed).mode_ for seed in range(20)]
    assert taken.count("base") >= 17


def test_a_temperature_alone_is_not_a_reason_to_change_the_order():
    for factor in (0.4, 2.5):
        taken = 0
        for seed in range(8):
            scores, labels, counts, _ = draw(seed)
            taken += Reranker(n_candidates=6).fit(factor * scores, labels, class_counts=counts).mode_ != "base"
        assert taken <= 2


def test_a_class_bias_is_found_and_few_terms_suffice():
    models = [fit(seed, bias=1.5, n=600) for seed in range(4)]
    assert all(model.mode_ == "extended" for model in models)
    small = [model.auto_.chosen.choice.terms for model in models]
    assert small.count(("score_gap", "log_freq_ratio")) >= 3
    model = models[small.index(("score_gap", "log_freq_ratio"))]
    assert set(model.weights_) == {"score_gap", "log_freq_ratio"}


def test_a_hundred_rows_are_enough_to_lower_frequent_classes():
    """Scores in which frequent classes are too high, as in a classifier trained on a long tail."""
    taken = 0
    for seed in range(6):
        scores, labels, counts, _ = draw(seed, n=125)
        taken += (
            Reranker(n_candidates=6).fit(scores + 0.7 * np.log(counts), labels, class_counts=counts).mode_ != "base"
        )
    assert taken == 6


def test_all_terms_are_chosen_where_scores_interact():
    """Class 0 is right where the score of the last class is high, which no offset can express."""
    rng = np.random.default_rng(0)
    counts = np.round(300 / np.arange(1, 7)) + 1
    scores = rng.normal(size=(900, 6))
    posterior = scores + 2.5 * np.tanh(2 * scores[:, -1:]) * (np.arange(6) == 0)
    labels = (posterior + rng.gumbel(size=posterior.shape)).argmax(axis=1)
    model = Reranker(n_candidates=6).fit(scores, labels, class_counts=counts)
    assert model.auto_.chosen.choice.terms is None
    assert {"context", "score_head"} <= set(model.weights_)


def test_the_reported_gain_is_what_new_rows_get():
    """Held-out gain against the gain on 4,000 new rows: within the interval, as a rule."""
    inside = 0
    for seed in range(5):
        model = fit(seed, bias=1.2, n=500)
        scores, labels, _, _ = draw(1000 + seed, n=4000, bias=1.2)
        after = evaluate(model.rerank(scores), labels).unconditional["hit@1"]
        before = evaluate(Reranker("base", n_candidates=6).fit(scores, labels).rerank(scores), labels).unconditional[
            "hit@1"
        ]
        low, high = model.auto_.gain.interval(0.95)
        inside += low - 0.01 <= after - before <= high + 0.01
    assert inside >= 4


def test_the_choice_is_explained_saved_and_frozen(tmp_path):
    model = fit(0, bias=1.5, n=600)
    assert "Chose " in model.auto_.reason
    assert f"{model.auto_.gain.in_points()} in accuracy on held-out rows" in str(model.auto_)
    assert model.auto_.reason in model.fit_summary_.notes
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    scores = draw(5)[0]
    assert (again.rerank(scores).scores == model.rerank(scores).scores).all()
    assert again.mode_ == model.mode_
    frozen = model.with_chosen_parameters()
    assert frozen.mode == model.mode_
    assert frozen.dial == model.chosen_.to_dict()["dial"]


def test_keeping_base_is_saved_too(tmp_path):
    model = fit(3)
    assert model.mode_ == "base"
    assert "Keeping the base order" in model.auto_.reason
    assert (model.offsets_ == 0).all()
    model.save(tmp_path / "model")
    scores = draw(5)[0]
    assert (load(tmp_path / "model").rerank(scores).order == np.arange(6)).all()


def test_too_few_rows_or_groups_keep_base():
    scores, labels, counts, _ = draw(0, n=40, bias=3.0)
    model = Reranker("auto", n_candidates=6).fit(scores, labels, class_counts=counts)
    assert model.mode_ == "base"
    assert "too few to choose a correction (50 are needed)" in model.auto_.reason
    scores, labels, counts, _ = draw(0, n=400, bias=3.0)
    model = Reranker("auto", n_candidates=6).fit(scores, labels, class_counts=counts, groups=np.arange(400) % 4)
    assert model.mode_ == "base"
    assert "4 groups are too few" in model.auto_.reason


def test_copies_in_groups_do_not_make_a_chance_gain_real():
    """Ten copies of forty rows look like 400 rows; by group they are forty."""
    false_alarms = 0
    for seed in range(6):
        scores, labels, counts, _ = draw(seed, n=60, n_classes=8)
        rows = np.repeat(np.arange(60), 8)
        model = Reranker("auto", n_candidates=5).fit(scores[rows], labels[rows], class_counts=counts, groups=rows)
        false_alarms += model.mode_ != "base"
    assert false_alarms <= 1


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("tuning", "cv", "chooses tuning itself"),
        ("tau", 1.0, "does not use tau"),
        ("alpha", 0.5, "does not use alpha"),
        ("lambda_a", 0.2, "chooses lambda_a itself"),
        ("shrinkage", "eb", "chooses shrinkage itself"),
    ],
)
def test_what_auto_chooses_or_does_not_use_is_not_to_be_given(name, value, reason):
    scores, labels, counts, _ = draw(0)
    with pytest.raises(InputError, match=f"mode 'auto' {reason}; leave {name} out"):
        Reranker("auto", n_candidates=6, **{name: value}).fit(scores, labels, class_counts=counts)


def test_a_dial_that_is_given_is_not_chosen():
    scores, labels, counts, _ = draw(0, n=600, bias=1.5)
    model = Reranker("auto", n_candidates=6, dial=0.2).fit(scores, labels, class_counts=counts)
    assert {one.dial for one in model.auto_.candidates[1:]} == {0.2}
    assert model.dial_ == 0.2


def test_with_the_dial_macro_auto_chooses_as_without_a_dial():
    scores, labels, counts, _ = draw(0, n=600, bias=1.5)
    plain, macro = (
        Reranker("auto", n_candidates=6, dial=dial).fit(scores, labels, class_counts=counts) for dial in (None, "macro")
    )
    assert macro.auto_.gain == plain.auto_.gain
    assert macro.mode_ == plain.mode_ == "extended"
    assert "and dial macro: " in macro.auto_.reason
    assert "on held-out rows before the dial; " in macro.auto_.reason
    assert (macro.dial_, macro.chosen_.dial, macro.with_chosen_parameters().dial) == ("macro",) * 3
    assert (macro.predict(scores, dial=0.0) == plain.predict(scores)).all()


def test_the_base_order_that_auto_keeps_gets_the_dial_macro_too():
    scores, labels, counts, _ = draw(0, n=40)
    model = Reranker("auto", n_candidates=6, dial="macro").fit(scores, labels, class_counts=counts)
    assert model.mode_ == "base"
    assert model.with_chosen_parameters().dial == "macro"
    assert (model.predict(scores) == model.predict(scores, dial=1.0)).all()


def test_the_same_seed_chooses_the_same():
    one, other = fit(1, bias=1.0), fit(1, bias=1.0)
    assert one.auto_.gain == other.auto_.gain
    assert one.chosen_.to_dict() == other.chosen_.to_dict()
    assert [candidate.name or candidate.mode for candidate in one.auto_.candidates] == [
        "base",
        "classwise",
        "separable",
        "pairwise",
        "few_terms",
        "extended",
    ]


def test_the_gain_of_keeping_base_is_zero():
    model = fit(3)
    assert model.auto_.gain.interval() == (0.0, 0.0)


def test_a_correction_that_costs_accuracy_is_not_chosen(monkeypatch):
    """The labels become more likely, but fewer of them are first."""
    from repair.tuning import candidates

    scored = candidates._scored

    def worse(fitted_on, test, final, dial):
        held_out = scored(fitted_on, test, final, dial)
        return candidates.HeldOut(np.zeros_like(held_out.hits), held_out.improvement)

    monkeypatch.setattr(candidates, "_scored", worse)
    model = fit(0, bias=1.5, n=600)
    assert model.mode_ == "base"
    assert min(candidate.p_value for candidate in model.auto_.candidates[-2:]) < 0.05


def test_base_mode_leaves_the_order_alone(problem):
    model = Reranker("base", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    assert (model.rerank(problem.scores).order == np.arange(problem.k)).all()
    assert model.weights_ == {}
