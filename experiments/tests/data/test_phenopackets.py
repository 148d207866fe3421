"""The rare-disease benchmark: its split, its features, and what it must show."""

import gzip
import json

import numpy as np
import pytest

from repair import Base, InputError, Reranker
from repair_bench.data.phenopackets import read_cases, split_by_publication
from repair_bench.harness.over_splits import compare_over_splits
from repair_bench.sets.phenopackets import splits

pytestmark = pytest.mark.needs("sklearn")


def write_gz(path, text):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(text)


@pytest.fixture
def small_data(tmp_path):
    """Three diseases that can be split, one with a single publication, one with two cases."""
    (tmp_path / "cases").mkdir()
    (tmp_path / "hpo").mkdir()
    terms = {"HP:1": ["root", []]} | {f"HP:{i}": [f"t{i}", ["HP:1"]] for i in range(2, 6)}
    terms["HP:9"] = ["below 2", ["HP:2"]]
    ontology = {"version": "test", "terms": terms, "replaced": {"HP:90": "HP:9"}}
    write_gz(tmp_path / "hpo" / "hpo_terms.json.gz", json.dumps(ontology))
    annotation = {"id": "OMIM:1", "name": "one", "hpo": [["HP:9", ""]]}
    write_gz(tmp_path / "hpo" / "disease_annotations.jsonl.gz", json.dumps(annotation) + "\n")
    rows = []
    for disease in range(1, 4):
        for case in range(8):
            rows.append((f"OMIM:{disease}", f"PMID:{disease}{case // 2}", [f"HP:{disease + 1}"]))
    rows += [("OMIM:8", "PMID:80", ["HP:2"])] * 4  # one publication
    rows += [("OMIM:9", "PMID:90", ["HP:3"]), ("OMIM:9", "PMID:91", ["HP:3"])]  # two cases
    rows[0] = ("OMIM:1", "PMID:10", ["HP:90", "HP:unheard"])
    lines = [
        json.dumps({"disease_id": d, "pmid": p, "hpo_observed": h, "gene": d, "cohort": d, "case_id": p})
        for d, p, h in rows
    ]
    write_gz(tmp_path / "cases" / "cases.jsonl.gz", "\n".join(lines) + "\n")
    return tmp_path


def test_only_diseases_that_can_be_split_take_part(small_data):
    cases = read_cases(small_data / "cases", small_data / "hpo")
    assert cases.diseases == ("OMIM:1", "OMIM:2", "OMIM:3")
    assert len(cases) == 24
    assert len(np.unique(cases.publications)) == 12
    assert cases.terms[0] == {"HP:9", "HP:2", "HP:1"}  # replaced, with ancestors, the unknown term skipped
    assert cases.profiles == {"OMIM:1": {"HP:9", "HP:2", "HP:1"}}


def test_the_base_sees_terms_only(small_data):
    cases = read_cases(small_data / "cases", small_data / "hpo")
    (split,) = splits(cases, n_splits=1)
    same = np.array([sorted(terms) == sorted(cases.terms[1]) for terms in cases.terms])
    part = split_by_publication(cases.labels, cases.publications, 0)
    alike = split.calibration.scores[same[part == 1]]
    assert len(alike) > 1
    np.testing.assert_array_equal(alike, np.broadcast_to(alike[0], alike.shape))
    counts = np.bincount(cases.labels[part == 0], minlength=3)
    np.testing.assert_array_equal(split.calibration.class_counts, counts)
    # Annotated terms {9, 2, 1} against the terms of training cases {3, 1}.
    assert split.calibration.similarity[0, 1] == pytest.approx(1 / 4)


def test_missing_data_names_its_home(tmp_path, monkeypatch):
    monkeypatch.delenv("REPAIR_DATA", raising=False)
    with pytest.raises(InputError, match="REPAIR_DATA"):
        read_cases()
    (tmp_path / "hpo").mkdir()
    monkeypatch.setenv("REPAIR_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"hp\.obo is missing .*get it from hpo\.jax\.org"):
        read_cases()


@pytest.mark.parametrize("seed", range(5))
def test_no_publication_is_in_two_parts_and_every_disease_is_trained_on(seed):
    rng = np.random.default_rng(seed)
    publications = rng.integers(0, 60, size=400)
    labels = publications % 15
    labels[rng.random(400) < 0.05] = 3  # some publications report two diseases
    publications = np.unique(publications, return_inverse=True)[1]
    part = split_by_publication(labels, publications, seed)
    for publication in np.unique(publications):
        assert len(np.unique(part[publications == publication])) == 1
    assert set(labels[part == 0]) == set(labels)
    sizes = [len(np.unique(publications[part == one])) for one in (1, 2)]
    assert abs(sizes[0] - sizes[1]) <= 1
    assert not np.array_equal(part, split_by_publication(labels, publications, seed + 100))


def test_group_aware_selection_beats_the_published_one(shared_data):
    """Five splits by publication, each publication counting once."""
    cases = read_cases(shared_data("phenopacket_store"), shared_data("hpo"))
    assert (len(cases), len(cases.diseases)) == (6295, 328)
    methods = {
        "Base": Base(),
        "published": Reranker("pairwise", tuning="in_sample"),
        "Pairwise": Reranker("pairwise"),
    }
    result = compare_over_splits(
        methods, splits(cases), reference="published", fitted_by_row=["published"], resamples=2000
    )
    gain, low, _, _ = result.gains["Pairwise"]["hit@1"]
    assert gain >= 0.02
    assert low > -0.005
    assert result.gains["Pairwise"]["rare"][0] >= 0.015
    assert result.by_group["Pairwise"]["hit@1"].mean() > result.by_group["Base"]["hit@1"].mean() + 0.2
