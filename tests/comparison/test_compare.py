import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from repair import (
    Base,
    InputError,
    LogitAdjustment,
    Reranker,
    ScoreSet,
    Shortlist,
    Temperature,
    compare,
    evaluate,
)
from repair.comparison.resampled_metrics import COMPARED, metric_ratios, metric_values
from repair.rerankers.base import ShortlistReranker
from repair.stats.folds import subsample
from repair.stats.paired_gains import holm

K = 20
RATES = ("hit@1", "hit@3", "mrr", "rare", "frequent", "macro", "hfr", "gap_closure", "nll")


@pytest.fixture
def sets(make_problem):
    calibration, test = make_problem(n=300), make_problem(n=250, seed=1)
    known = {"class_counts": calibration.class_counts, "similarity": calibration.similarity}
    return ScoreSet(calibration.scores, calibration.labels, **known), ScoreSet(test.scores, test.labels, **known)


def methods():
    return {
        "Base": Base(6),
        "LogitAdj": LogitAdjustment(6),
        "REPAIR": Reranker("pairwise", n_candidates=6, lambda_a=0.001),
    }


@pytest.fixture
def comparison(sets):
    return compare(methods(), *sets, trials=5, resamples=500, random_state=3)


def test_trials_are_what_one_would_do_by_hand(sets, comparison):
    calibration, test = sets
    tau = LogitAdjustment(6).fit(calibration.scores, calibration.labels, **calibration.optional_fields).tau_
    by_hand = {
        "Base": Base(6),
        "LogitAdj": LogitAdjustment(6, tau=tau),
        "REPAIR": Reranker("pairwise", n_candidates=6, lambda_a=0.001),
    }
    for trial, seed in enumerate(comparison.setup.trial_seeds):
        rows = subsample(300, None, 0.8, seed)
        assert len(rows) == 240
        for name, method in by_hand.items():
            model = method.clone().fit(
                calibration.scores[rows], calibration.labels[rows], **calibration.optional_fields
            )
            result = evaluate(model.rerank(test.scores), test.labels, test.class_counts)
            for metric in ("coverage", *RATES):
                assert comparison.trials[name][metric][trial] == result.conditional[metric]
            hits = model.predict(test.scores) == test.labels
            assert comparison.trials[name]["accuracy"][trial] == pytest.approx(hits.mean())
            rare = np.isin(test.labels, np.arange(4, K))  # counts fall with the class id: the first fifth is frequent
            assert comparison.trials[name]["accuracy_rare"][trial] == pytest.approx(hits[rare].mean())
            assert comparison.trials[name]["accuracy_frequent"][trial] == pytest.approx(hits[~rare].mean())
    values = comparison.trials["REPAIR"]["nll"]
    assert comparison.mean("REPAIR", "nll") == pytest.approx(sum(values) / 5)
    assert comparison.std("REPAIR", "nll") == pytest.approx(stats.tstd(values))
    assert comparison.std("Base", "mrr") == comparison.std("LogitAdj", "nll") == 0.0


def test_full_models_are_fits_on_all_rows(sets, comparison):
    calibration, test = sets
    model = Reranker("pairwise", n_candidates=6, lambda_a=0.001).fit(
        calibration.scores, calibration.labels, **calibration.optional_fields
    )
    assert (comparison.models["REPAIR"].offsets_ == model.offsets_).all()
    result = evaluate(model.rerank(test.scores), test.labels, test.class_counts)
    assert comparison.full["REPAIR"] == metric_values(result)
    assert (comparison.rows["REPAIR"]["best"] == model.predict(test.scores)).all()
    np.testing.assert_array_equal(comparison.rows["REPAIR"]["nll"], result.rows["nll"])


def test_every_resampled_metric_is_the_ratio_that_it_claims(comparison):
    for name in comparison.methods:
        for metric, (above, below) in metric_ratios(comparison.rows[name]).items():
            assert above.sum() / below.sum() == pytest.approx(comparison.full[name][metric]), metric
    assert set(COMPARED) - set(metric_ratios(comparison.rows["Base"])) == {"macro"}


def test_choices_are_made_once_or_in_each_trial(sets):
    """A τ chosen on each subsample differs between trials here; one chosen once does not."""
    frozen, each = (
        compare({"LogitAdj": LogitAdjustment(6)}, *sets, subsample=0.2, resamples=10, tuning=one)
        for one in ("once", "each_trial")
    )
    assert frozen.std("LogitAdj", "nll") == 0.0
    assert each.std("LogitAdj", "nll") > 0.0
    assert "chosen once on all calibration rows" in " ".join(str(frozen).split())
    assert "chosen again in each trial" in " ".join(str(each).split())


def test_signs_are_counted_and_tested_as_scipy_does(comparison):
    signs = comparison.signs("REPAIR", "LogitAdj")
    for metric in COMPARED:
        ours, theirs = comparison.trials["REPAIR"][metric], comparison.trials["LogitAdj"][metric]
        gain = theirs - ours if metric == "nll" else ours - theirs
        wins, losses = int((gain > 1e-12).sum()), int((gain < -1e-12).sum())
        one = signs[metric]
        assert (one.wins, one.losses, one.ties) == (wins, losses, 5 - wins - losses)
        assert one.mark == (wins >= 4)
        expected = 1.0
        if wins + losses:
            expected = stats.binomtest(wins, wins + losses, 0.5, alternative="greater").pvalue
        assert one.p_value == pytest.approx(expected)
    family = ["hit@1", "hit@3", "mrr", "rare", "frequent", "macro", "hfr", "nll"]
    assert list(comparison.questions) == family
    adjusted = holm(np.array([signs[name].p_value for name in family]))
    assert [signs[name].p_holm for name in family] == pytest.approx(adjusted.tolist())
    assert signs["accuracy"].p_holm == signs["gap_closure"].p_holm == signs["hit@1"].p_holm


def test_lower_likelihood_loss_is_the_better_one(sets):
    found = compare({"Base": Base(6), "Temperature": Temperature(6)}, *sets, trials=3, resamples=200)
    better = found.full["Temperature"]["nll"] < found.full["Base"]["nll"]
    assert found.signs("Temperature")["nll"].wins == (3 if better else 0)
    assert (found.difference("Temperature")["nll"].estimate < 0) == better
    assert found.difference("Temperature")["hit@1"].p_value == 1.0  # the order is the same
    assert found.difference("Temperature")["hit@1"].p_positive == 0.0


def test_the_mark_is_for_four_fifths_of_any_number_of_trials(comparison):
    values = {name: np.zeros(10) for name in COMPARED}
    for wins, marked in ((7, False), (8, True)):
        ours = {name: (np.arange(10) < wins) * 1.0 for name in COMPARED}
        made = replace(
            comparison,
            setup=replace(comparison.setup, trials=10),
            trials={"Base": values, "LogitAdj": values, "REPAIR": ours},
        )
        assert made.signs("REPAIR")["hit@1"].mark is marked


def test_differences_are_paired(comparison):
    found = comparison.difference("REPAIR", "Base")["hit@1"]
    place = list(COMPARED).index("hit@1")
    gaps = comparison.draws[:, 2, place] - comparison.draws[:, 0, place]
    assert found.estimate == comparison.full["REPAIR"]["hit@1"] - comparison.full["Base"]["hit@1"]
    assert (found.low, found.high) == pytest.approx(np.quantile(gaps, [0.025, 0.975]))
    assert found.p_positive == pytest.approx((gaps > 1e-12).mean())
    unpaired = np.sqrt(comparison.draws[:, 2, place].var() + comparison.draws[:, 0, place].var())
    assert gaps.std() < 0.8 * unpaired
    back = comparison.difference("Base", "REPAIR")["hit@1"]
    assert (back.estimate, back.low, back.high) == pytest.approx((-found.estimate, -found.high, -found.low))
    assert back.p_value == pytest.approx(found.p_value)


def test_paired_intervals_cover_as_promised(make_problem):
    """250 test sets of 240 rows: 95 % ± 4 % of the intervals contain the truth of all 60,000."""
    calibration, large = make_problem(n=100), make_problem(n=60_000, seed=99)
    known = {"class_counts": calibration.class_counts}
    pair = {"Base": Base(6), "LogitAdj": LogitAdjustment(6, tau=0.7)}
    everything = ScoreSet(large.scores, large.labels, **known)
    rows = ScoreSet(calibration.scores, calibration.labels, **known)
    names = ("hit@1", "mrr", "rare", "gap_closure", "nll", "accuracy")
    # The test sets are cut from these rows; all of them together are the truth.
    truth = compare(pair, rows, everything, trials=1, resamples=1).difference("LogitAdj")
    inside = dict.fromkeys(names, 0)
    for part in range(250):
        test = everything.take(np.arange(240 * part, 240 * (part + 1)))
        found = compare(pair, rows, test, trials=1, resamples=400, random_state=part).difference("LogitAdj")
        for name in names:
            inside[name] += found[name].low <= truth[name].estimate <= found[name].high
    for name in names:
        assert inside[name] / 250 == pytest.approx(0.95, abs=0.04), name


def test_groups_that_agree_make_intervals_wider(sets):
    calibration, test = sets
    copied = test.take(np.repeat(np.arange(60), 4))
    grouped = replace(copied, groups=np.repeat([f"patient {i}" for i in range(60)], 4))
    by_row, by_group = (compare(methods(), calibration, one, trials=1, resamples=1000) for one in (copied, grouped))
    for name, values in by_row.full.items():  # groups of equal size: rows and groups count alike
        assert by_group.full[name] == pytest.approx(values, nan_ok=True)
    for metric in ("hit@1", "nll", "accuracy"):
        wide, narrow = by_group.interval("REPAIR", metric), by_row.interval("REPAIR", metric)
        assert wide[1] - wide[0] > 1.5 * (narrow[1] - narrow[0])
        wide, narrow = (one.difference("REPAIR")[metric] for one in (by_group, by_row))
        assert wide.high - wide.low > 1.4 * (narrow.high - narrow.low)
    assert "60 groups" in str(by_group)


def test_every_group_of_test_rows_counts_once(sets):
    """Rows repeated within their group change nothing; with the weights switched off they do."""
    calibration, test = sets
    times = 1 + np.arange(len(test)) % 5
    rows = np.repeat(np.arange(len(test)), times)
    once, often = replace(test, groups=np.arange(len(test))), replace(test.take(rows), groups=rows)
    one, other = (compare(methods(), calibration, part, trials=1, resamples=1000) for part in (once, often))
    for name, values in one.full.items():
        assert other.full[name] == pytest.approx(values, nan_ok=True)
    for part in (one, other):  # as far as resampling goes: the same spread
        assert part.draws[:, 1, 1].std() == pytest.approx(one.draws[:, 1, 1].std(), rel=0.15)
    assert "every group counts once" in str(other)
    flat = compare(methods(), calibration, replace(often, equal_group_weight=False), trials=1, resamples=10)
    assert flat.full["REPAIR"]["hit@1"] != pytest.approx(one.full["REPAIR"]["hit@1"], abs=1e-6)
    assert "every group counts once" not in str(flat)


def test_subsamples_take_whole_groups(sets, monkeypatch):
    calibration = replace(sets[0], groups=np.arange(300) // 3)
    seen = []
    monkeypatch.setattr(
        "repair.comparison.compare._fit", lambda model, rows, place: seen.append(rows) or _fit(model, rows)
    )
    compare({"Base": Base(6)}, calibration, sets[1], trials=2, resamples=1)
    assert [len(rows) for rows in seen] == [300, 240, 240]
    assert all((np.unique(rows.groups, return_counts=True)[1] == 3).all() for rows in seen)
    assert (seen[1].labels != seen[2].labels).any()


def _fit(model, rows):
    return model.fit(rows.scores, rows.labels, **rows.optional_fields)


def test_no_fit_looks_at_the_test_labels(sets, tmp_path, monkeypatch):
    fitted = []
    fit = ShortlistReranker.fit
    monkeypatch.setattr(ShortlistReranker, "fit", lambda self, *a, **k: fitted.append(fit(self, *a, **k)) or self)
    calibration, test = sets
    permuted = replace(test, labels=np.random.default_rng(0).permutation(test.labels))
    every = {**methods(), "eb": Reranker("pairwise", n_candidates=6, shrinkage="eb", tau=0.5)}
    saved, results = [], []
    for rows in (test, permuted):
        fitted.clear()
        results.append(compare(every, calibration, rows, trials=3, resamples=20))
        assert len(fitted) == 4 * (1 + 3)
        contents = []
        for model in [*fitted, *results[-1].models.values()]:
            model.save(tmp_path / "model.safetensors")
            contents.append((tmp_path / "model.safetensors").read_bytes())
        saved.append(contents)
    assert saved[0] == saved[1]
    assert results[0].full != results[1].full


def test_methods_and_sets_are_left_alone(sets):
    given = methods()
    before = {name: repr(method) for name, method in given.items()}
    arrays = [np.copy(one) for rows in sets for one in (rows.scores, rows.labels, rows.class_counts)]
    found = compare(given, *sets, trials=1, resamples=10)
    assert {name: repr(method) for name, method in given.items()} == before
    assert all(method._state is None for method in given.values())
    assert all(found.models[name] is not given[name] for name in given)
    after = [one for rows in sets for one in (rows.scores, rows.labels, rows.class_counts)]
    assert all((one == other).all() for one, other in zip(arrays, after, strict=True))
    fitted = Base(6).fit(sets[0].scores, sets[0].labels)
    assert compare({"fitted": fitted}, *sets, trials=1, resamples=10).models["fitted"] is not fitted


def test_a_seed_decides_everything(sets, comparison):
    again = compare(methods(), *sets, trials=5, resamples=500, random_state=3)
    assert again.to_json() == comparison.to_json()
    np.testing.assert_array_equal(again.draws, comparison.draws)
    assert compare(methods(), *sets, trials=5, resamples=500, random_state=4).to_json() != comparison.to_json()
    fewer = compare(methods(), *sets, trials=2, resamples=5, random_state=3)
    assert fewer.setup.trial_seeds == comparison.setup.trial_seeds[:2]


def test_progress_is_told_after_each_fit(sets):
    told = []
    compare(
        {"Base": Base(6), "REPAIR": Reranker("pairwise", n_candidates=6)},
        *sets,
        trials=2,
        resamples=1,
        progress=lambda *a: told.append(a),
    )
    assert told == [
        (1, 6, "Base, all rows"),
        (2, 6, "Base, trial 1"),
        (3, 6, "Base, trial 2"),
        (4, 6, "REPAIR, all rows"),
        (5, 6, "REPAIR, trial 1"),
        (6, 6, "REPAIR, trial 2"),
    ]


def test_where_the_class_counts_come_from(sets):
    calibration, test = sets
    bare = replace(test, class_counts=None)
    uncounted = replace(calibration, class_counts=None)
    told = [
        compare({"Base": Base(6)}, *pair, trials=1, resamples=1)
        for pair in ((calibration, test), (calibration, bare), (uncounted, bare))
    ]
    assert [one.setup.counts_from for one in told] == [
        "the training counts given with the test set",
        "the training counts given with the calibration set",
        "the label counts of the calibration set",
    ]
    assert "label counts of the calibration set" in " ".join(str(told[2]).split())
    expected = evaluate(
        Base(6).fit(calibration.scores, calibration.labels).rerank(test.scores),
        test.labels,
        np.bincount(calibration.labels, minlength=K),
    )
    assert told[2].full["Base"]["rare"] == expected.conditional["rare"]


def test_one_trial_has_no_spread_and_one_method_no_rival(sets):
    found = compare({"Base": Base(6)}, *sets, trials=1, resamples=20)
    assert np.isnan(found.std("Base", "hit@1"))
    assert "Differences to" not in str(found)
    assert "±" not in str(found).split("\n\n")[1]


def test_metrics_without_rows_are_not_available(sets):
    """With no rare row in the test set there is no rare metric, and no test of it."""
    calibration, test = sets
    frequent = test.take(np.asarray(test.labels) < 4)
    found = compare(methods(), calibration, frequent, trials=2, resamples=50)
    assert np.isnan(found.full["REPAIR"]["rare"])
    assert np.isnan(found.difference("REPAIR")["rare"].p_holm)
    assert np.isnan(found.signs("REPAIR")["rare"].p_holm)
    assert not np.isnan(found.signs("REPAIR")["hit@1"].p_holm)
    assert "n/a" in str(found)
    assert json.loads(found.to_json())["methods"]["REPAIR"]["metrics"]["rare"]["mean"] is None


def test_methods_with_shortlists_of_their_own_are_flagged(sets):
    found = compare({"short": Base(3), "long": Base(8)}, *sets, trials=1, resamples=50)
    assert not found.same_rows
    assert found.questions == tuple(COMPARED)
    assert "do not cover the same test rows" in " ".join(str(found).split())
    assert found.difference("long")["accuracy"].estimate == 0.0
    assert found.difference("long")["coverage"].estimate > 0.0


def test_shortlists_names_and_data_frames_are_accepted(sets, comparison):
    short = [replace(rows, scores=Shortlist.from_scores(rows.scores, 6)) for rows in sets]
    assert compare(methods(), *short, trials=5, resamples=500, random_state=3).full == comparison.full
    names = np.array([f"class {i}" for i in range(K)])
    named = [replace(rows, labels=names[rows.labels], class_names=names.tolist()) for rows in sets]
    assert compare(methods(), *named, trials=1, resamples=1).full == comparison.full
    pandas = pytest.importorskip("pandas")
    frames = [
        replace(rows, scores=pandas.DataFrame(rows.scores, columns=names), labels=names[rows.labels]) for rows in sets
    ]
    assert compare(methods(), *frames, trials=1, resamples=1).full == comparison.full
    turned = replace(frames[1], scores=frames[1].scores[names[::-1]])
    with pytest.raises(InputError, match=r"class 0 is 'class 0' in calibration and 'class 19' in test"):
        compare(methods(), frames[0], turned)


def test_names_of_other_classes_count_as_uncovered(sets):
    names = np.array([f"class {i}" for i in range(K)])
    calibration, test = (replace(rows, labels=names[rows.labels], class_names=names.tolist()) for rows in sets)
    strange = replace(test, labels=np.where(np.arange(250) < 10, "nobody", test.labels))
    with pytest.warns(UserWarning, match="10 rows have a label"):
        found = compare({"Base": Base(6)}, calibration, strange, trials=1, resamples=1)
    assert (found.labels[:10] == -1).all()
    assert found.rows["Base"]["covered"][:10].sum() == 0


@pytest.fixture
def awkward(sets):
    names = {
        "a|b & c_d": Base(6),
        "100 % {x} \\ ^~#$": Reranker("pairwise", n_candidates=6),
        'two\nlines, "quoted"': LogitAdjustment(6),
    }
    return compare(names, *sets, trials=2, resamples=50)


def test_markdown_keeps_its_columns(awkward):
    tables = [part for part in awkward.to_markdown().split("\n\n") if part.startswith("|")]
    assert len(tables) == 3
    for table in tables:
        lines = [re.split(r"(?<!\\)\|", line.strip()) for line in table.splitlines()]
        assert len({len(line) for line in lines}) == 1
        assert all(re.fullmatch(r" (:--|--:) ", cell) for cell in lines[1][1:-1])
    assert len(tables[0].splitlines()) == 2 + len(COMPARED)
    assert len(tables[2].splitlines()) == 2 + 2 * len(awkward.questions)


def test_latex_is_escaped_and_balanced(awkward):
    text = awkward.to_latex()
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == text.count(r"\toprule") == 3
    assert r"a$|$b \& c\_d" in text
    assert r"100 \% \{x\} \textbackslash{} \textasciicircum{}\textasciitilde{}\#\$" in text
    assert not re.search(r"[^\x00-\x7f]", text), "only ASCII reaches LaTeX"
    for body in re.findall(r"\\begin\{tabular\}\{(\w+)\}\n(.*?)\\end\{tabular\}", text, re.DOTALL):
        for line in body[1].splitlines():
            if line.endswith(r"\\"):
                assert len(re.findall(r"(?<!\\)&", line)) == len(body[0]) - 1
    bare = re.sub(r"\\[{}$%&#_]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0


def test_csv_and_json_hold_the_same_numbers(awkward):
    lines = list(csv.DictReader(io.StringIO(awkward.to_csv())))
    content = json.loads(awkward.to_json())
    assert len(lines) == 3 * len(COMPARED)
    for line in lines:
        method, metric = line["method"], line["metric"]
        entry = content["methods"][method]["metrics"][metric]
        assert float(line["mean"]) == entry["mean"] == awkward.mean(method, metric)
        assert [float(line["trial_1"]), float(line["trial_2"])] == entry["trials"]
        if method != awkward.reference:
            gap = content["methods"][method]["against"][awkward.reference][metric]["difference"]
            assert gap["estimate"] == float(line["difference"])
            assert (line["difference_low"] == "") == (gap["low"] is None) == (metric == "macro")
        else:
            assert line["wins"] == line["difference"] == ""
    assert content["version"]
    assert content["setup"]["tuning"] == "once"
    assert content["setup"]["trial_seeds"] == list(awkward.setup.trial_seeds)
    assert content["setup"]["n_test"] == 250
    tuned = content["methods"]['two\nlines, "quoted"']
    assert tuned["chosen"]["tau"] == awkward.models['two\nlines, "quoted"'].tau_
    assert len(tuned["against"]) == 2


def test_everything_is_written(awkward, tmp_path):
    folder = tmp_path / "new" / "folder"
    awkward.write(folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "comparison.csv",
        "comparison.json",
        "comparison.md",
        "comparison.tex",
        "rows.npz",
    ]
    assert (folder / "comparison.md").read_text(encoding="utf-8") == awkward.to_markdown()
    with np.load(folder / "rows.npz", allow_pickle=False) as rows:
        assert tuple(rows["methods"]) == awkward.methods
        assert (rows["labels"] == awkward.labels).all()
        for place, method in enumerate(awkward.methods):
            np.testing.assert_array_equal(rows["hit@1"][place], awkward.rows[method]["hit@1"])
            np.testing.assert_array_equal(rows["best"][place], awkward.rows[method]["best"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": {}}, "methods is empty"),
        ({"methods": [Base()]}, "methods is list; pass a mapping"),
        ({"methods": {"Base": Base}}, r"methods\['Base'\] is <class .* pass an instance, such as Base\(\)"),
        ({"methods": {"": Base()}}, "methods has the key ''"),
        ({"methods": {"Base": Base(0)}}, r"n_candidates of methods\['Base'\] is 0"),
        ({"reference": "Bas"}, "reference is 'Bas'; choose one of 'Base'"),
        ({"trials": 0}, "trials is 0"),
        ({"subsample": 0.0}, "subsample is 0.0"),
        ({"subsample": 1.2}, "subsample is 1.2"),
        ({"tuning": "never"}, "tuning is 'never'; choose one of 'once', 'each_trial'"),
        ({"resamples": 0}, "resamples is 0"),
        ({"level": 1.0}, "level must be below 1, got 1.0"),
        ({"level": 95}, "level is 95"),
        ({"random_state": -1}, "random_state is -1"),
    ],
)
def test_bad_arguments_are_named(sets, changes, message):
    with pytest.raises(InputError, match=message):
        compare(**{"methods": {"Base": Base(6)}, "calibration": sets[0], "test": sets[1], **changes})


def test_bad_sets_are_named(sets):
    calibration, test = sets
    base = {"Base": Base(6)}
    with pytest.raises(InputError, match="test is ndarray; pass a ScoreSet"):
        compare(base, calibration, test.scores)
    with pytest.raises(InputError, match="the test set has no labels"):
        compare(base, calibration, replace(test, labels=None))
    with pytest.raises(InputError, match="calibration has 20 classes, test 19"):
        compare(base, calibration, replace(test, scores=test.scores[:, :19]))
    with pytest.raises(InputError, match="groups of the test set has shape"):
        compare(base, calibration, replace(test, groups=[1, 2]))
    with pytest.raises(InputError, match="method 'LogitAdj', all calibration rows: LogitAdjustment needs class_counts"):
        compare({"LogitAdj": LogitAdjustment(6)}, replace(calibration, class_counts=None), test)
    rare = calibration.take(
        np.r_[np.flatnonzero(calibration.labels == 0)[:30], np.flatnonzero(calibration.labels == 1)[:1]]
    )
    with pytest.raises(InputError, match=r"method 'Base', trial .*: every covered calibration row has the same label"):
        compare(base, rare, test, trials=20, subsample=0.5)


def test_unknown_names_are_refused_when_asking(comparison):
    with pytest.raises(InputError, match="'Repair' is not one of the compared methods; choose one of 'Base'"):
        comparison.difference("Repair")
    with pytest.raises(InputError, match="'hit@2' is not a metric"):
        comparison.mean("Base", "hit@2")
