"""The publishers' files: what is read from them, how they are divided, and what is said about their sizes."""

import gzip
import json

import numpy as np
import pytest

from repair import InputError
from repair.similarity import Ontology, read_annotations
from repair_bench.sets.registry import get


def problem_of(name, data):
    benchmark = get(name)
    return benchmark.read(benchmark.find(data), benchmark.seed)


def parts(problem):
    return np.bincount(problem.part, minlength=3).tolist()


def test_goemotions_is_read_from_its_publishers_files(published_folder):
    problem = problem_of("goemotions", published_folder)
    assert problem.class_names == ("joy", "anger", "neutral")
    assert parts(problem) == [18, 18, 18]  # rows with two labels are left out
    assert problem.notes[-1] == "sizes differ from the published ones: classes: 3 here, 28 in the paper"


def test_massive_is_divided_by_its_partitions(published_folder):
    problem = problem_of("massive", published_folder)
    assert problem.class_names == ("intent0", "intent1", "intent2")
    assert parts(problem) == [18, 18, 18]
    assert problem.texts[0] == "word0 0"


def test_an_unknown_partition_is_named(published_folder):
    path = published_folder / "massive" / "1.0" / "data" / "en-US.jsonl"
    path.write_text(path.read_text().replace('"partition": "dev"', '"partition": "extra"'))
    with pytest.raises(InputError, match=r"line 19 of .* is of partition 'extra'"):
        problem_of("massive", published_folder)


def test_huffpost_is_shuffled_by_the_papers_generator(published_folder):
    problem = problem_of("huffpost", published_folder)
    assert parts(problem) == [36, 12, 12]
    assert problem.notes[0] == "of 62 articles, 2 without a text or with one that came before left out"
    order = np.random.RandomState(42).permutation(60)
    assert [problem.texts[row] for row in np.flatnonzero(problem.part == 2)] == [
        f"Head {one} word{one % 3}" for one in sorted(order[48:])
    ]
    assert "classes: 3 here, 42 in the paper" in problem.notes[-1]


@pytest.mark.parametrize("writer", ["few_nerd", "few_nerd_val"])
def test_few_nerd_has_a_row_per_mention(official, tmp_path, writer):
    official[writer](tmp_path / "few_nerd")
    problem = problem_of("few_nerd", tmp_path)
    assert problem.class_names == ("location-GPE", "person-scholar")
    assert problem.texts[:2] == ("« Ada Lovelace » left London", "Ada Lovelace left « London »")
    assert parts(problem) == [8, 8, 8]
    assert problem.groups[:4].tolist() == [0, 0, 1, 1]


def test_compressed_files_are_read_as_well(published_folder):
    plain = problem_of("goemotions", published_folder)
    for path in (published_folder / "goemotions").iterdir():
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert problem_of("goemotions", published_folder).texts == plain.texts


def test_imagenet_lt_takes_scores_in_the_order_of_its_list(published_folder):
    problem = problem_of("imagenet_lt", published_folder)
    assert problem.class_names == ("n00000000", "n00000001", "n00000002")
    assert problem.counts.tolist() == [9, 5, 2]
    assert parts(problem) == [0, 24, 36]
    first = np.random.RandomState(42).permutation(60)[:24]
    assert sorted(np.flatnonzero(problem.part == 1)) == sorted(first)
    with np.load(published_folder / "imagenet_lt" / "scores.npz") as arrays:
        np.testing.assert_array_equal(problem.features, arrays["scores"])
    assert "training rows: 16 here, 115,846 in the published list" in problem.notes[-1]


def test_wordnet_and_class_counts_beside_the_lists_are_used(published_folder):
    beside = published_folder / "longtail_class_counts"
    beside.mkdir()
    above = {f"n{label:08d}": ["word", ["n9"]] for label in range(3)} | {"n9": ["all", []]}
    (beside / "imagenet_lt_wordnet30_hypernyms.json").write_text(json.dumps(above))
    (beside / "imagenet_lt.csv").write_text("class_index,wnid,train\n0,a,9\n1,b,4\n2,c,2\n")
    problem = problem_of("imagenet_lt", published_folder)
    assert problem.similarity[0].tolist() == [1, 1 / 3, 1 / 3]
    assert problem.notes[0] == (
        "the training counts of 1 classes differ from longtail_class_counts (class 1: 5 here, 4 there)"
    )
    (beside / "imagenet_lt.csv").write_text("class_index,wnid,train\n0,a,9\n1,b,5\n2,c,2\n")
    assert (
        problem_of("imagenet_lt", published_folder).notes[0] == "the training counts are those of longtail_class_counts"
    )


def test_places_lt_is_divided_within_each_class(published_folder):
    problem = problem_of("places_lt", published_folder)
    for label in range(3):
        assert parts(problem.take(problem.labels == label)) == [0, 12, 8]
    assert "has 36,500" in problem.notes[-1]


@pytest.mark.needs("sklearn")
def test_features_beside_the_lists_train_a_balanced_head(published_folder):
    folder, rng = published_folder / "places_lt", np.random.default_rng(1)
    (folder / "scores.npz").unlink()
    labels = {"train": np.repeat([0, 1, 2], (9, 5, 2)), "test": np.tile([0, 1, 2], 20)}
    features = {part: 4 * np.eye(3)[of_part] + rng.normal(size=(len(of_part), 3)) for part, of_part in labels.items()}
    np.savez(folder / "features.npz", **features)
    problem = problem_of("places_lt", published_folder)
    assert parts(problem) == [16, 36, 24]
    base = get("places_lt").base(problem)
    assert (base.test_scores.argmax(axis=1) == base.test_labels).mean() > 0.9
    np.savez(folder / "features.npz", train=features["train"][:-1], test=features["test"])
    with pytest.raises(InputError, match=r"train in .* has shape \(15, 3\), but the list has 16 images"):
        problem_of("places_lt", published_folder)


def test_scores_in_another_order_or_shape_are_refused(published_folder):
    path = published_folder / "imagenet_lt" / "scores.npz"
    with np.load(path) as arrays:
        kept = dict(arrays)
    np.savez(path, scores=kept["scores"], labels=kept["labels"][::-1])
    with pytest.raises(InputError, match=r"label 0 of .* is 2, but the list says 0"):
        problem_of("imagenet_lt", published_folder)
    np.savez(path, scores=kept["scores"][:-1])
    with pytest.raises(InputError, match=r"shape \(59, 3\); expected \(60, 3\)"):
        problem_of("imagenet_lt", published_folder)


def test_inaturalist_has_its_taxonomy(published_folder):
    problem = problem_of("inat2018", published_folder)
    assert problem.class_names[0] == "species 0"
    assert problem.similarity[0].tolist() == [1, 6 / 7, 0, 0]
    assert parts(problem) == [0, 12, 28]
    assert "cannot be its validation part" in problem.notes[-1]
    (published_folder / "inat2018" / "categories.json").unlink()
    hidden = problem_of("inat2018", published_folder)
    assert hidden.similarity is None
    assert "the categories have no taxonomy" in hidden.notes[0]


def test_gmdb_keeps_the_diseases_with_facial_terms(published_folder):
    problem = problem_of("gmdb", published_folder)
    assert problem.class_names == ("Disease 1", "Disease 3", "Disease 5", "Disease 7")
    assert problem.counts.tolist() == [5, 5, 5, 5]
    assert parts(problem) == [0, 12, 16]
    assert problem.weight_norms.tolist() == [1.0, 2.0, 0.5, 1.0]
    assert problem.similarity[0, 1] == 1  # the same annotated terms
    assert problem.notes[0] == "4 of 8 diseases have facial terms in HPO (the paper: 508 of 528)"
    assert "classes: 4 here, 508 in the paper" in problem.notes[1]


def test_rarebench_is_mapped_to_gmdb(published_folder):
    problem = problem_of("rarebench_gmdb", published_folder)
    assert len(problem.labels) == 16
    assert parts(problem) == [0, 9, 7]
    order = np.random.RandomState(42).permutation(16)
    assert sorted(np.flatnonzero(problem.part == 1)) == sorted(order[:9])
    assert problem.counts.tolist() == [5, 5, 5, 5]  # strata are those of GMDB
    assert "16 of 32 RareBench cases map to 4 GMDB diseases (the paper: 195 of 1,122 to 67)" in problem.notes


def test_the_ontology_is_read_as_published(write_hpo, tmp_path):
    folder = write_hpo(tmp_path / "hpo")
    ontology = Ontology.read(folder)
    assert ontology.release == "2025-01-16"
    assert ontology.closure(["HP:0009999"]) == {"HP:0000271", "HP:0000118", "HP:0000001"}
    assert "HP:0000271" in ontology.closure(["HP:0000005"])  # replaced by a facial term
    annotated = read_annotations(folder)
    assert annotated["OMIM:100001"] == ("HP:0000316",)
    for disease in (2, 4, 6):  # NOT, 0/12, and an annotation of another aspect
        assert annotated[f"OMIM:{100000 + disease}"] == ("HP:0001250",)


def test_both_forms_of_the_ontology_are_equal(write_hpo, tmp_path):
    obo = Ontology.read(write_hpo(tmp_path / "hpo"))
    base = "http://purl.obolibrary.org/obo/"
    iri = {term: base + term.replace(":", "_") for term in (*obo.parents, *obo.replaced)}
    nodes = [{"id": iri[term], "type": "CLASS", "lbl": "x", "meta": {}} for term in obo.parents]
    alternative = {"pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId", "val": "HP:0009999"}
    next(node for node in nodes if node["id"].endswith("HP_0000271"))["meta"] = {"basicPropertyValues": [alternative]}
    replaced = {"pred": base + "IAO_0100001", "val": iri["HP:0000316"]}
    obsolete = {"deprecated": True, "basicPropertyValues": [replaced]}
    nodes += [{"id": iri["HP:0000005"], "type": "CLASS", "meta": obsolete}, {"id": base + "hp#x", "type": "PROPERTY"}]
    edges = [{"sub": iri[term], "pred": "is_a", "obj": iri[one]} for term, ids in obo.parents.items() for one in ids]
    edges.append({"sub": iri["HP:0000271"], "pred": base + "BFO_0000050", "obj": iri["HP:0000001"]})
    graph = {"nodes": nodes, "edges": edges, "meta": {"version": base + "hp/releases/2025-01-16/hp.json"}}
    (tmp_path / "hp.json").write_text(json.dumps({"graphs": [graph]}))
    graphs = Ontology.read(tmp_path / "hp.json")
    assert (graphs.parents, graphs.replaced, graphs.release) == (obo.parents, obo.replaced, obo.release)


@pytest.mark.needs("sklearn", "lightgbm")
@pytest.mark.parametrize("name", ["goemotions", "massive", "huffpost", "few_nerd", "inat2018", "imagenet_lt", "gmdb"])
def test_a_quick_run_goes_from_the_official_files_to_the_tables(published_folder, tmp_path, name):
    from repair_bench.running.benchmark_run import run

    said = []
    places = {"cache": tmp_path / "cache", "data": published_folder, "out": tmp_path / "out"}
    result = run(name, methods=("base", "classwise"), quick=True, lengths=(3,), progress=said.append, **places)
    assert result["methods"]["Base"]["metrics"]["hit@1"]["full"] > 0.3
    assert any("note: sizes differ from the published ones" in line for line in said)
