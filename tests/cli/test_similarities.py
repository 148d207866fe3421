import json

import numpy as np
import pytest

from repair.errors import InputError, InputWarning
from repair.io import read_similarity
from repair.similarity import Ontology, cosine_similarity, hpo_jaccard, taxonomy_similarity

pytestmark = pytest.mark.needs("typer", "pyarrow")

THREE = ("cat", "lynx", "wolf")
PATHS = {"wolf": "dogs/wolf", "cat": "cats/small/cat", "lynx": "cats/small/lynx"}
TERMS = {"version": "v", "terms": {"a": ["A", []], "b": ["B", ["a"]], "c": ["C", ["a"]]}, "replaced": {}}


def build_similarity(names, **options):
    """Build one as a command does; imported here, because it needs typer."""
    from repair.cli import similarities
    from repair.cli.options import ClassOptions

    return similarities.build_similarity(ClassOptions(**options), names)


@pytest.fixture
def write(tmp_path):
    def make(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return make


def test_none_is_asked_for():
    assert build_similarity(THREE) is None


def test_matrix(write):
    path = write("s.csv", "class,wolf,cat,lynx\nwolf,1,.1,.2\ncat,.1,1,.9\nlynx,.2,.9,1\n")
    assert build_similarity(THREE, similarity=path)[0].tolist() == [1, 0.9, 0.1]
    assert (read_similarity(path, THREE) == build_similarity(THREE, similarity=path)).all()


@pytest.mark.parametrize("separator", ["/", ";"])
def test_taxonomy(write, separator):
    lines = [f"{name},{path.replace('/', separator)}" for name, path in PATHS.items()]
    options = {"taxonomy": write("t.csv", "\n".join(["class,path", *lines])), "path_separator": separator}
    expected = taxonomy_similarity([PATHS[name] for name in THREE], separator="/")
    np.testing.assert_array_equal(build_similarity(THREE, **options), expected)


@pytest.mark.parametrize("layout", ["one term a line", "several terms a line", "jsonl", "annotations"])
def test_hpo_terms(write, tmp_path, layout):
    sets = {"lynx": ["b", "c"], "cat": ["b"], "wolf": ["c"]}
    if layout == "jsonl":
        path = write("s.jsonl", "\n".join(json.dumps({"class": name, "terms": terms}) for name, terms in sets.items()))
    elif layout == "annotations":
        lines = [{"id": name, "hpo": [[one, "1/2"] for one in terms] + [["a", "0/2"]]} for name, terms in sets.items()]
        path = write("s.jsonl", "\n".join(map(json.dumps, lines)))
    elif layout == "one term a line":
        path = write("s.csv", "class,term\n" + "\n".join(f"{n},{one}" for n, terms in sets.items() for one in terms))
    else:
        path = write("s.csv", "class,terms\n" + "\n".join(f"{name},{'; '.join(terms)}" for name, terms in sets.items()))
    ontology = write("terms.json", json.dumps(TERMS))
    found = build_similarity(THREE, hpo_sets=path, ontology=ontology)
    np.testing.assert_array_equal(found, hpo_jaccard([sets[name] for name in THREE], Ontology.read(ontology)))


def test_a_class_without_terms_is_named(write):
    path, ontology = write("s.csv", "class,term\ncat,b\nlynx,b\n"), write("terms.json", json.dumps(TERMS))
    with pytest.warns(InputWarning, match=r"classes without HPO terms \(1\) get similarity 0 to all others: 'wolf'"):
        found = build_similarity(THREE, hpo_sets=path, ontology=ontology)
    assert found[2].tolist() == [0, 0, 1]


@pytest.mark.parametrize("name", ["v.npy", "v.npz", "v.csv"])
def test_vectors(write, tmp_path, name):
    vectors = {"wolf": [1.0, 0.0], "cat": [3.0, 4.0], "lynx": [0.0, 2.0]}
    path = tmp_path / name
    if name == "v.npy":
        np.save(path, [vectors[one] for one in THREE])
    elif name == "v.npz":
        np.savez(path, class_names=list(vectors), embeddings=list(vectors.values()))
    else:
        write(name, "class,x,y\n" + "\n".join(f"{one},{x},{y}" for one, (x, y) in vectors.items()))
    found = build_similarity(THREE, class_embeddings=path)
    np.testing.assert_array_equal(found, cosine_similarity([vectors[one] for one in THREE]))


def test_refusals(write, tmp_path):
    path = write("t.csv", "class,path\ncat,a\nlynx,b\nwolf,c\n")
    with pytest.raises(InputError, match="--similarity and --taxonomy each define the class similarity"):
        build_similarity(THREE, similarity=path, taxonomy=path)
    with pytest.raises(InputError, match="add --hpo-sets"):
        build_similarity(THREE, ontology=path)
    with pytest.raises(InputError, match="no path contains '/'"):
        build_similarity(THREE, taxonomy=path)
    with pytest.raises(InputError, match="only have class ids; add --classes"):
        build_similarity(None, taxonomy=path)
    with pytest.raises(InputError, match=r"t\.csv: the class table has no line for class 'bear'"):
        build_similarity(("bear",), taxonomy=path)
    with pytest.raises(InputError, match="there is no vector for class 'bear'"):
        build_similarity(("bear",), class_embeddings=write("v.csv", "class,x\ncat,1\n"))
    with pytest.raises(InputError, match=r"none of the 3 classes \(such as 'cat'\) is in this file"):
        build_similarity(THREE, hpo_sets=write("h.csv", "class,term\nbear,b\n"))
    with pytest.raises(InputError, match="there is no column of HPO terms"):
        build_similarity(THREE, hpo_sets=path)


def test_the_option_reaches_the_model(repair, data, tmp_path):
    given = ("--mode", "pairwise", "--taxonomy", data / "classes.csv", "--classes", data / "classes.csv", "--json")
    done = repair("fit", data / "calibration.csv", "-o", tmp_path / "m.safetensors", *given)
    assert done.code == 0, done.err
    assert "similarity" in json.loads(done.out)["weights"]
