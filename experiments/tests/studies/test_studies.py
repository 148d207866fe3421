"""The studies on tiny data: they run, their numbers agree with each other, and their text comes from the record."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from repair import Base, InputError, Reranker, compare
from repair._utils.json import json_text
from repair_bench.bases.base_scores import TextBase
from repair_bench.data.phenopackets import read_cases
from repair_bench.data.problem import Problem
from repair_bench.harness.benchmark import Benchmark
from repair_bench.sets.rarebench import read_others
from repair_bench.studies import (
    STUDIES,
    auto_simulation,
    hpo_ablation,
    run_study,
    study_folders,
    study_page,
    vector_ablation,
)
from repair_bench.studies.case_study import BASE, LOGIT_ADJ, NEAR_TOP, PAIRWISE
from repair_bench.studies.parts import estimate, paired_draws, resampled_share, scored

needs_sklearn = pytest.mark.needs("sklearn")


@pytest.fixture
def data(tiny_diseases, write_lines):
    """Return the tiny diseases with RareBench cases of two subsets, one of them mostly unknown."""
    rng = np.random.default_rng(2)
    rows = []
    for case in range(60):
        disease = case % 6 + 1
        shown = rng.choice(np.arange(5 * disease, 5 * disease + 5), 2, replace=False).tolist() + [36, 37 + case % 3]
        rows.append(
            {
                "disease_ids": [f"OMIM:{disease}" if case < 50 else "OMIM:77"],
                "hpo_observed": [f"HP:{term}" for term in sorted(set(shown))],
                "subset_inferred": "first" if case < 40 else "second",
            }
        )
    write_lines(tiny_diseases / "rarebench_public" / "public_test_set.jsonl.gz", rows)
    return tiny_diseases


@needs_sklearn
@pytest.mark.parametrize("name", STUDIES)
def test_the_record_of_a_study_is_json_and_its_page_reads_it(data, name, monkeypatch):
    monkeypatch.setattr(auto_simulation, "QUICK_PROBLEMS", {60: 1})
    lines = []
    record = run_study(name, data=data, quick=True, progress=lines.append)
    written = json.loads(json_text(record))
    assert written["study"] == name
    text = study_page(written)
    assert text.startswith(f"# {record['title']}\n")
    assert f"`repair bench run {name}`" in text
    assert "paper" in text
    assert lines


def test_an_unknown_study_is_refused():
    with pytest.raises(InputError, match="there is no study 'birds'; choose from hpo_ablation"):
        run_study("birds")


@needs_sklearn
def test_differences_are_taken_on_the_same_resamples(data):
    """Two methods with the same outcomes differ by nothing in every resample, whatever stands next to them."""
    one = scored("phenopackets", data)
    models = {"a": Reranker("pairwise", n_candidates=4), "b": Base(4), "c": Reranker("pairwise", n_candidates=4)}
    found = compare(models, one.base.calibration, one.base.test, trials=1, resamples=1)
    draws = paired_draws([found.rows[title] for title in models], one.base, 300, 0)
    np.testing.assert_array_equal(draws[:, 0], draws[:, 2])
    assert (draws[:, 0] != draws[:, 1]).any()


@needs_sklearn
def test_the_ablation_resamples_all_methods_in_one_call(data, monkeypatch):
    """Methods resampled one by one meet different resamples even with one seed, and differences are then noise."""
    sizes = []

    def spy(rows, *others):
        sizes.append(len(rows))
        return paired_draws(rows, *others)

    monkeypatch.setattr("repair_bench.studies.parts.paired_draws", spy)
    found = run_study("hpo_ablation", data=data, quick=True)["sets"]
    assert sizes == [len(one["methods"]) for one in found.values()] == [5, 5]
    for one in found.values():
        for numbers in one["methods"].values():
            assert numbers["hit@1"]["low"] <= numbers["hit@1"]["value"] <= numbers["hit@1"]["high"]


@needs_sklearn
def test_the_papers_similarity_is_the_benchmarks_own(data):
    one = scored("phenopackets", data)
    similarities = hpo_ablation._similarities(one)
    np.testing.assert_allclose(similarities[hpo_ablation.JACCARD], one.problem.similarity)
    assert not np.allclose(similarities[hpo_ablation.SIMGIC], one.problem.similarity)


@pytest.fixture
def confusable(tiny_diseases, write_lines):
    """Return diseases that share most of their terms, the later ones in small publications: the base is often wrong."""
    rng = np.random.default_rng(3)
    rows = []
    for disease in range(1, 7):
        size = 15 if disease < 4 else 3
        for case in range(8 * size):
            shown = rng.choice(np.arange(2 + 3 * disease, 14 + 3 * disease), 3, replace=False)
            rows.append(
                {
                    "disease_id": f"OMIM:{disease}",
                    "disease_label": f"disease {disease}",
                    "pmid": f"PMID:{disease}{case // size}",
                    "hpo_observed": [f"HP:{term}" for term in sorted(shown.tolist())],
                }
            )
    write_lines(tiny_diseases / "phenopacket_store" / "cases.jsonl.gz", rows)
    return tiny_diseases


@needs_sklearn
def test_the_chosen_cases_follow_the_rule(confusable):
    record = run_study("case_study", data=confusable)
    assert "| method | rank of the correct disease |" in study_page(record)
    case = record["cases"]["recovered"]
    assert case["ranks"][PAIRWISE] == 1 < case["ranks"][BASE]
    assert case["related_ranks"][PAIRWISE] <= NEAR_TOP
    assert case["correct"] != case["related"]
    assert case["correct"].startswith("disease ")
    for shown in case["contributions"]:
        assert shown["score"] == pytest.approx(sum(shown["contributions"].values()))
    failed = record["cases"]["failed"]
    assert failed["ranks"][PAIRWISE] > failed["ranks"][BASE] >= 1
    counts = record["counts"]
    assert counts[PAIRWISE]["related_kept"] <= counts[PAIRWISE]["recovered"] <= counts["n_covered"]
    assert counts[LOGIT_ADJ]["lost_first"] <= counts[LOGIT_ADJ]["worse"]


@needs_sklearn
def test_subsets_add_up_and_unknown_diseases_are_counted(data):
    record = run_study("rarebench_subsets", data=data, quick=True)
    assert sum(record["counts"]["second"].values()) == 20
    assert record["counts"]["second"]["unknown disease"] == 10
    others = read_others(data / "rarebench_public", data / "hpo", read_cases(data / "phenopacket_store", data / "hpo"))
    assert len(others.subsets) == len(others.labels) == sum(own["kept"] for own in record["counts"].values())
    for subsets in record["protocols"].values():
        whole = subsets.pop("all subsets")
        assert sum(own["n"] for own in subsets.values()) == whole["n"]
        hits = sum(own["methods"]["Base"]["accuracy"]["value"] * own["n"] for own in subsets.values())
        assert hits == pytest.approx(whole["methods"]["Base"]["accuracy"]["value"] * whole["n"])


def test_what_is_not_defined_is_none():
    assert estimate(float("nan"), np.full(3, np.nan)) == {"value": None, "low": None, "high": None}
    drawn = np.array([[0, 0], [1, 1], [0, 1]])
    found = resampled_share(np.array([1, 0]), np.array([True, True]), drawn)
    assert found["value"] == 0.5
    assert found["low"] < 0.5 < found["high"]
    assert resampled_share(np.array([1, 0]), np.zeros(2), drawn)["value"] is None


@dataclass(frozen=True)
class _Tells:
    """Vectors that all but tell the label."""

    def missing(self):
        return ""

    def files(self):
        return None

    def vectors(self, problem, folder):
        noise = np.random.default_rng(0).normal(size=(len(problem.labels), 3))
        return np.eye(3)[problem.labels] + 0.3 * noise


@needs_sklearn
def test_vectors_that_tell_more_than_the_words_close_more(monkeypatch):
    rng = np.random.default_rng(1)
    labels = rng.choice(3, size=900, p=[0.6, 0.3, 0.1]).astype(np.int32)
    texts = tuple(" ".join(f"w{word}" for word in (rng.integers(0, 6, size=4) + label)) for label in labels)
    problem = Problem(("a", "b", "c"), labels, np.repeat([0, 1, 2], 300), texts=texts)
    made = Benchmark("birds", "Birds", "x", read=lambda folders, seed: problem, base=TextBase(sentences=_Tells()))
    monkeypatch.setattr(vector_ablation, "SETS", ("birds",))
    monkeypatch.setattr("repair_bench.studies.parts.get", lambda name: made)
    record = run_study("vector_ablation", quick=True)
    methods = record["sets"]["birds"]["methods"]
    accuracy = {title: one["value"] for title, one in methods.items()}
    assert accuracy[vector_ablation.SENTENCES] > accuracy[vector_ablation.WORDS] + 0.1
    left = 1 - accuracy[vector_ablation.PUBLISHED]
    gained = accuracy[vector_ablation.SENTENCES] - accuracy[vector_ablation.PUBLISHED]
    assert methods[vector_ablation.SENTENCES]["closed"]["value"] == pytest.approx(gained / left)
    assert "| mean |" in study_page(record)


def test_a_study_reads_the_data_that_it_names(tiny_massive, tiny_diseases):
    # Both fixtures write into the same folder, which then has MASSIVE and the diseases, but not RareBench.
    assert {path.name for path in study_folders("case_study", tiny_diseases)} == {"phenopacket_store", "hpo"}
    assert {path.name for path in study_folders("term_ablation", tiny_diseases)} == {
        "phenopacket_store",
        "hpo",
        "massive_en_us",
    }
    with pytest.raises(InputError, match="rarebench_public"):
        study_folders("hpo_ablation", tiny_diseases)
    with pytest.raises(InputError, match="goemotions"):
        study_folders("vector_ablation", tiny_diseases / "nowhere")
