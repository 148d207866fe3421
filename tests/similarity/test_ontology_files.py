"""The published files of the Human Phenotype Ontology: what is read, and what is refused."""

import gzip
import json

import pytest

from repair import InputError
from repair.similarity import Ontology, read_annotations

OBO = """format-version: 1.2
data-version: hp/releases/2025-01-16

[Term]
id: HP:1
name: All

[Term]
id: HP:2
alt_id: HP:9
is_a: HP:1 {source="x"} ! All

[Term]
id: HP:3
is_obsolete: true
replaced_by: HP:2

[Typedef]
id: part_of
"""
HEADER = "database_id\tdisease_name\tqualifier\thpo_id\tfrequency\taspect"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("by_folder", [False, True])
def test_an_obo_file_is_read(tmp_path, packed, by_folder):
    path = tmp_path / ("hp.obo.gz" if packed else "hp.obo")
    path.write_bytes(gzip.compress(OBO.encode()) if packed else OBO.replace("\n", "\r\n").encode())
    ontology = Ontology.read(tmp_path if by_folder else path)
    assert ontology.parents == {"HP:1": (), "HP:2": ("HP:1",)}
    assert ontology.replaced == {"HP:9": "HP:2", "HP:3": "HP:2"}
    assert ontology.release == "2025-01-16"


def test_our_compact_file_comes_first(tmp_path):
    (tmp_path / "hp.obo").write_text(OBO)
    (tmp_path / "hpo_terms.json").write_text('{"version": "v1", "terms": {"a": ["A", []]}, "replaced": {}}')
    assert Ontology.read(tmp_path).release == "v1"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("format-version: 1.2\n\n[Term]\nname: no id\n", r"a \[Term\] of the OBO file has no id"),
        ("format-version: 1.2\n\n[Term]\nid: HP:2\nis_a: HP:1\n", "parent 'HP:1' of 'HP:2' is not a term"),
        ('{"graphs": []}', r"expected hp\.obo, hp\.json"),
        ('{"graphs": [{"nodes": [{}], "edges": []}]}', r"expected hp\.obo, hp\.json"),
    ],
)
def test_files_that_hold_something_else_are_named(tmp_path, content, message):
    path = tmp_path / "terms"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        Ontology.read(path)


def test_terms_of_other_ontologies_are_left_out_of_a_graph(tmp_path):
    base = "http://purl.obolibrary.org/obo/"
    nodes = [{"id": base + "HP_1"}, {"id": base + "HP_2"}, {"id": "http://x.org/part_of", "type": "PROPERTY"}]
    edges = [{"sub": base + "HP_2", "pred": "is_a", "obj": base + one} for one in ("HP_1", "GO_7")]
    (tmp_path / "hp.json").write_text(json.dumps({"graphs": [{"nodes": nodes, "edges": edges}]}))
    assert Ontology.read(tmp_path).parents == {"HP:1": (), "HP:2": ("HP:1",)}


def test_annotations_that_say_not_or_never_are_left_out(tmp_path):
    rows = [
        "OMIM:1\tA\t\tHP:5\t3/4\tP",
        "OMIM:1\tA\t\tHP:5\t1/1\tP",  # once more, from another publication
        "OMIM:1\tA\tNOT\tHP:6\t\tP",
        "OMIM:1\tA\t\tHP:7\t0/9\tP",
        "OMIM:1\tA\t\tHP:8\tHP:0040285\tP",
        "OMIM:1\tA\t\tHP:4\t\tI",
        "ORPHA:2\tB\t\tHP:6\t\tP",
    ]
    (tmp_path / "phenotype.hpoa").write_text("\n".join(["#version: x", HEADER, *rows]) + "\n")
    assert read_annotations(tmp_path) == {"OMIM:1": ("HP:5",), "ORPHA:2": ("HP:6",)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("#DatabaseID\tHPO_ID\n", "has no column 'database_id'"),
        (f"{HEADER}\nOMIM:1\tA\t\tHP:5\n", "annotation 1 of .* is cut"),
    ],
)
def test_other_and_cut_annotations_are_named(tmp_path, content, message):
    path = tmp_path / "phenotype.hpoa"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_annotations(path)
