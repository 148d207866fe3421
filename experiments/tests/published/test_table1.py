"""Table 1 from score files equals a plain implementation of the paper's formulas."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from repair import InputError
from repair_bench.data.author_files import READERS, author_sources, read_author_scores
from repair_bench.published.table1 import published_of, run_table1, tables_for

K = 10


def scores_of(root, name):
    return read_author_scores(author_sources()[name].find(root))


class Plain:
    """The paper's formulas, one array per shortlist and no shared code."""

    def __init__(self, data, tau, lambda_a, lambda_theta, alpha):
        self.data, self.tau, self.penalties, self.alpha = data, tau, (lambda_a, lambda_theta), alpha
        counts = data.class_counts
        self.prior_term = -tau * np.log(np.maximum(counts / counts.sum(), 1e-8))

    def columns(self, raw):
        """Shortlists of the raw scores, the scores that enter the model, and the mean pairwise features."""
        raw = raw.astype(np.float64)
        lists = np.argsort(-raw, axis=1, kind="stable")[:, :K]
        scaled = raw if self.data.weight_norms is None else raw / np.sqrt(self.data.weight_norms)
        scores = np.take_along_axis(scaled + self.prior_term, lists, axis=1)
        rank = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
        log_p = scores - logsumexp(scores, axis=1, keepdims=True)
        frequency = np.log(self.data.class_counts[lists] + 1)
        features = [self.gaps(scores), self.gaps(-rank), self.gaps(log_p), self.gaps(frequency)]
        if self.data.similarity is not None:
            pairs = self.data.similarity[lists[:, :, None], lists[:, None, :]]
            pairs[:, np.arange(K), np.arange(K)] = 0
            features.append(pairs.sum(axis=2) / (K - 1))
        return lists, scores, np.stack(features, axis=2)

    @staticmethod
    def gaps(values):
        return (values[:, :, None] - values[:, None, :]).sum(axis=2) / (K - 1)

    def fit(self, pairwise):
        lists, scores, features = self.columns(self.data.calibration_scores)
        place = lists == self.data.calibration_labels[:, None]
        covered = place.any(axis=1)
        lists, scores, features, place = lists[covered], scores[covered], features[covered], place[covered]
        rarity = 1 / np.sqrt(self.data.class_counts[lists[place]] + 1)
        weight = (1 - self.alpha) / len(lists) + self.alpha * rarity / rarity.sum()
        n_classes = len(self.data.class_counts)
        width = features.shape[2] if pairwise else 0

        def loss(x):
            a, theta = x[:n_classes], x[n_classes:]
            total = scores + a[lists] + features[:, :, :width] @ theta
            log_q = total - logsumexp(total, axis=1, keepdims=True)
            error = weight[:, None] * (np.exp(log_q) - place)
            own = np.bincount(lists.ravel(), error.ravel(), minlength=n_classes) + 2 * self.penalties[0] * a
            shared = np.einsum("nk,nkd->d", error, features[:, :, :width]) + 2 * self.penalties[1] * theta
            value = -(weight * log_q[place]).sum() + self.penalties[0] * a @ a + self.penalties[1] * theta @ theta
            return value, np.concatenate([own, shared])

        options = {"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-10}
        best = minimize(loss, np.zeros(n_classes + width), jac=True, method="L-BFGS-B", options=options).x
        lists, scores, features = self.columns(self.data.test_scores)
        return self.metrics(lists, scores + best[:n_classes][lists] + features[:, :, :width] @ best[n_classes:])

    def base(self):
        raw = self.data.test_scores.astype(np.float64)
        lists = np.argsort(-raw, axis=1, kind="stable")[:, :K]
        return self.metrics(lists, np.take_along_axis(raw, lists, axis=1))

    def metrics(self, lists, final):
        """Hit@1, Hit@3, MRR, Rare, Frequent and HFR over covered rows, with the raw order as the base."""
        labels, counts = self.data.test_labels, self.data.class_counts
        place = lists == labels[:, None]
        covered = place.any(axis=1)
        lists, final, place, labels = lists[covered], final[covered], place[covered], labels[covered]
        true = final[place]
        rank = 1 + (final > true[:, None]).sum(axis=1)
        rare = np.isin(labels, np.argsort(counts, kind="stable")[: int(0.8 * len(counts))])
        wrong = ~place[:, 0]
        beaten = true[wrong] > final[wrong, 0]  # the base's first class is the hardest rival of a row it misranks
        hit = rank == 1
        return {
            "hit@1": hit.mean(),
            "hit@3": (rank <= 3).mean(),
            "mrr": (1 / rank).mean(),
            "rare": hit[rare].mean(),
            "frequent": hit[~rare].mean(),
            "hfr": beaten.mean(),
        }


@pytest.mark.parametrize("name", READERS)
def test_the_published_methods_are_the_papers_formulas(author_files, name):
    found = run_table1(author_files, [name], trials=1, resamples=50, without=("Extended", "Auto"))
    full = found.comparisons[name].full
    plain = Plain(
        scores_of(author_files, name),
        **{key: published_of(name).hyperparameters[key] for key in ("tau", "lambda_a", "lambda_theta", "alpha")},
    )
    for title, expected in (("Base", plain.base()), ("Classwise", plain.fit(False)), ("REPAIR", plain.fit(True))):
        for metric, value in expected.items():
            if (title, metric) != ("Base", "hfr"):
                assert full[title][metric] == pytest.approx(value, abs=1e-9), (title, metric)
    assert len({full[title]["mrr"] for title in ("Base", "Classwise", "REPAIR")}) == 3


def test_the_splits_are_those_of_the_papers_generator(author_files):
    with np.load(author_files / "results/imagenet_lt/imagenet_lt_logits.npz") as arrays:
        order = np.random.RandomState(42).permutation(1000)
        expected = np.sort(order[:400])
        found = scores_of(author_files, "imagenet_lt")
        np.testing.assert_array_equal(found.calibration_scores, arrays["logits"][expected])
        np.testing.assert_array_equal(found.test_labels, arrays["labels"][np.sort(order[400:])])
    places = scores_of(author_files, "places_lt")
    with np.load(author_files / "results/backbone/resnet152_places_lt_logits.npz") as arrays:
        per_class = np.bincount(arrays["test_labels"])
    np.testing.assert_array_equal(np.bincount(places.calibration_labels), [int(0.6 * one) for one in per_class])
    rare = scores_of(author_files, "rarebench")
    assert (len(rare.calibration_labels), len(rare.test_labels)) == (117, 78)


def test_a_distance_becomes_a_similarity_and_cards_a_jaccard_index(author_files):
    similarity = scores_of(author_files, "inat2018").similarity
    assert similarity[0, 0] > similarity[0, 1] > similarity[0, 23] == 0
    diseases = scores_of(author_files, "gmdb")
    assert diseases.similarity[0, 5] == pytest.approx(1 / 2)  # {0} and {0, 5}
    assert diseases.class_counts[:2].tolist() == [401, 201]
    assert scores_of(author_files, "rarebench").similarity[0, 5] == pytest.approx(1 / 2)


def test_object_arrays_are_refused_with_a_remedy(author_files):
    path = author_files / "qwen-vl-inference/results/inference_output/v2_kway_08b_final_cal.logits.npz"
    with np.load(path) as arrays:
        kept = dict(arrays)
    kept["disease_names"] = kept["disease_names"].astype(object)
    np.savez(path, **kept)
    with pytest.raises(InputError, match=r"disease_names of .* only pickle can read.*astype\(str\)"):
        run_table1(author_files, ["gmdb"])


@pytest.mark.parametrize("spoil", [lambda path: path.write_bytes(path.read_bytes()[:-200]), lambda path: path.unlink()])
def test_a_cut_or_missing_file_is_named_and_the_others_run(author_files, spoil):
    spoil(author_files / "results/inat/logits.npz")
    found = run_table1(author_files, ["inat2018", "places_lt"], trials=1, resamples=20, without=("Extended", "Auto"))
    assert list(found.comparisons) == ["places_lt"]
    assert "results/inat/logits.npz" in found.missing["inat2018"]


def test_wrong_labels_and_names_are_refused(author_files, tmp_path):
    path = author_files / "results/backbone/resnet152_places_lt_logits.npz"
    with np.load(path) as arrays:
        kept = dict(arrays)
    kept["test_labels"][3] = 99
    np.savez(path, **kept)
    with pytest.raises(InputError, match="label 3 is 99; there are 24 classes"):
        run_table1(author_files, ["places_lt"])
    with pytest.raises(InputError, match="no data set 'imagenet'"):
        run_table1(author_files, ["imagenet"])
    with pytest.raises(InputError, match="'REPAIR' is not one of our methods"):
        run_table1(author_files, without=["REPAIR"])
    with pytest.raises(InputError, match=r"no data set of Table 1 has its score files: .*missing"):
        run_table1(tmp_path)


def test_the_tables_have_the_papers_numbers_ours_and_intervals(author_files):
    found = run_table1(author_files, ["rarebench"], trials=2, resamples=50)
    main, intervals = tables_for("rarebench", found.comparisons["rarebench"])
    titles = ["Base", "LogitAdj", "τ-norm", "Classwise", "REPAIR", "Pairwise", "Extended", "Auto"]
    assert [row[0] for row in main.rows] == titles == [row[0] for row in intervals.rows]
    assert main.rows[4][1].endswith("(85.6)")
    assert " ± " in main.rows[4][1]
    assert main.rows[0][6] == "–"
    assert "117 calibration and 78 test rows" in main.caption
    assert "(the paper: 42.3)" in main.caption
    assert " to " in intervals.rows[4][2]
    assert intervals.rows[3][7:] == ["–", "–"]
    assert intervals.rows[7][7] == "–"  # its covered rows are others
    assert " to " in intervals.rows[7][8]


@pytest.mark.needs("typer")
def test_the_command_prints_tables_and_writes_the_numbers(repair, author_files, tmp_path):
    done = repair(
        "bench", "table1", "places_lt", "--npz", author_files, "--trials", 1, "--without", "Extended,Auto",
        "--format", "csv", "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == "method,Hit@1,Hit@3,MRR,Rare,Frequent,HFR"
    written = json.loads((tmp_path / "out" / "places_lt" / "comparison.json").read_bytes())
    assert "REPAIR" in written["methods"]
    done = repair("bench", "table1", "--npz", tmp_path / "nothing")
    assert (done.code, done.out) == (2, "")
