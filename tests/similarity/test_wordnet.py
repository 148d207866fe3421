import csv
from pathlib import Path

import numpy as np
import pytest

from repair import InputError
from repair.similarity import read_wordnet, wordnet_similarity

# There are two ways up from "e", of different lengths, and "w" is below both.  The longer way must not be taken.
ABOVE = {"top": (), "a": ("top",), "b": ("a",), "c": ("b",), "e": ("c", "a"), "f": ("a",), "w": ("e", "f"), "alone": ()}

NOUNS = """\
  1 This is a licence.
  2 It goes on.
00001740 03 n 01 entity 0 001 ~ 00001930 n 0000 | that which is
00001930 03 n 02 thing 0 physical_thing 0 002 @ 00001740 n 0000 + 00692347 v 0101 | not @ 00000001 n 0000
00002000 03 n 0b a 0 b 0 c 0 d 0 e 0 f 0 g 0 h 0 i 0 j 0 k 0 002 @ 00001930 n 0000 @i 00001740 n 0000 | eleven words
"""


def by_search(wnids, above):
    """Return 1 / (1 + fewest steps), first upwards and then downwards, by a search over states."""
    below = {}
    for synset, parents in above.items():
        for parent in parents:
            below.setdefault(parent, []).append(synset)

    def distances(start):
        steps, level, found = 0, {(start, "up")}, {}
        seen = set(level)
        while level:
            following = set()
            for synset, way in level:
                found.setdefault(synset, steps)
                following |= {(child, "down") for child in below.get(synset, ())}
                if way == "up":
                    following |= {(parent, "up") for parent in above[synset]}
            level = following - seen
            seen |= level
            steps += 1
        return found

    found = [distances(wnid) for wnid in wnids]
    return np.array([[1 / (1 + row[wnid]) if wnid in row else 0.0 for wnid in wnids] for row in found])


def test_by_hand():
    found = wordnet_similarity(["e", "b", "f", "w", "top", "alone"], ABOVE)
    # e–b: e, a, b is 2 steps, as is e, c, b; e–f over a: 2; w–b: w, f, a, b: 3; e–top: 2
    np.testing.assert_allclose(found[0], [1, 1 / 3, 1 / 3, 1 / 2, 1 / 3, 0])
    np.testing.assert_allclose(found[3], [1 / 2, 1 / 4, 1 / 2, 1, 1 / 4, 0])
    np.testing.assert_array_equal(found, found.T)
    assert (np.diag(found) == 1).all()
    np.testing.assert_allclose(found, by_search(["e", "b", "f", "w", "top", "alone"], ABOVE))


def test_a_path_needs_a_common_ancestor():
    # x and z share only the descendant y.  A path must not go down and then up.
    above = {"x": (), "z": (), "y": ("x", "z")}
    assert wordnet_similarity(["x", "y", "z"], above).tolist() == [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]


def test_unknown_synsets_are_named():
    with pytest.raises(InputError, match=r"wnids\[1\] is 'n1', which is not among the 8 synsets; .*WordNet 3\.0"):
        wordnet_similarity(["a", "n1"], ABOVE)
    with pytest.raises(InputError, match=r"wnids\[0\] is 'x', whose ancestor 'y' is not among"):
        wordnet_similarity(["x"], {"x": ("y",)})
    with pytest.raises(InputError, match="wnids is the text 'abc'; pass a list"):
        wordnet_similarity("abc", ABOVE)


def test_the_file_of_nouns(tmp_path):
    (tmp_path / "data.noun").write_text(NOUNS, encoding="utf-8")
    expected = {"n00001740": (), "n00001930": ("n00001740",), "n00002000": ("n00001930", "n00001740")}
    assert read_wordnet(tmp_path) == expected
    assert read_wordnet(tmp_path / "data.noun") == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"x contains no synsets"),
        ('{"n1": 3}', r"x is not a file of hypernyms"),
        ("{", r"x is not a file of hypernyms"),
        ("00001740 03 n 01 entity", r"line 1 of .*x is not a synset; pass WordNet's file data\.noun"),
        (NOUNS + "name,count\n", r"line 6 of .*x is not a synset"),
    ],
)
def test_other_files_raise_an_error(tmp_path, content, message):
    (tmp_path / "x").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_wordnet(tmp_path / "x")


@pytest.fixture
def imagenet(shared_data):
    with shared_data("longtail_class_counts/imagenet_lt.csv").open(newline="", encoding="utf-8") as stream:
        return [line["wnid"] for line in csv.DictReader(stream)]


def test_imagenet_classes_agree_with_a_search(shared_data, imagenet):
    above = read_wordnet(shared_data("longtail_class_counts/imagenet_lt_wordnet30_hypernyms.json.gz"))
    assert len(above) == 1860
    found = wordnet_similarity(imagenet, above)
    assert found.shape == (1000, 1000)
    np.testing.assert_array_equal(found, found.T)
    chosen = np.random.default_rng(0).choice(1000, size=40, replace=False)
    np.testing.assert_allclose(found[np.ix_(chosen, chosen)], by_search([imagenet[i] for i in chosen], above))
    assert found.min() > 0


@pytest.fixture
def debian():
    if not Path("/usr/share/wordnet/data.noun").exists():
        pytest.skip("needs WordNet 3.0 in /usr/share/wordnet (apt install wordnet-base)")
    return read_wordnet()


def test_debians_wordnet(debian):
    assert len(debian) == 82115
    cat, dog, lion = "n02121620", "n02084071", "n02129165"
    found = wordnet_similarity([cat, dog, lion], debian)
    assert found[0, 1] == pytest.approx(0.2)  # cat, feline, carnivore, canine, dog
    assert found[0, 2] > found[0, 1]
    # An instance: Einstein is an instance of physicist.
    assert debian["n10954498"] == ("n10428004",)


def test_the_file_on_disk_is_an_excerpt_of_debians(debian, shared_data, imagenet):
    excerpt = read_wordnet(shared_data("longtail_class_counts/imagenet_lt_wordnet30_hypernyms.json.gz"))
    assert {synset: set(debian[synset]) for synset in excerpt} == {name: set(above) for name, above in excerpt.items()}
