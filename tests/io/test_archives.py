"""Whole arrays from .npz and .npy."""

import io
import pickle
import zipfile

import numpy as np
import pytest

from repair import InputError
from repair.io import ClassFile, read_score_set


@pytest.fixture
def archive(tmp_path):
    def make(name="s.npz", **arrays):
        np.savez(tmp_path / name, **{key: np.asarray(values) for key, values in arrays.items()})
        return tmp_path / name

    return make


def test_everything_a_file_may_hold(archive):
    path = archive(
        scores=[[1.0, 2.0], [3.0, 4.0]],
        labels=["b", "q"],
        class_names=["a", "b"],
        class_counts=[5, 6],
        class_groups=["x", "y"],
        class_weights=[1.0, 3.0],
        similarity=[[1.0, 0.5], [0.25, 1.0]],
        groups=["g", "h"],
        sample_weight=[1.0, 2.0],
        weight_norms=[0.5, 0.75],
        row_ids=[10, 11],
        embeddings=[[1.0, 0.0, 2.0], [0.0, 0.5, 0.0]],
        colour=["red", "blue"],
        version=3,
    )
    read = read_score_set(path)
    assert read.layout == "dense"
    assert read.rows.labels.tolist() == ["b", "q"]
    assert read.rows.class_counts.tolist() == [5, 6]
    assert read.rows.groups.tolist() == ["g", "h"]
    assert read.rows.sample_weight.tolist() == [1, 2]
    assert read.row_ids.tolist() == [10, 11]
    assert read.rows.class_groups.tolist() == ["x", "y"]
    assert read.rows.class_weights.tolist() == [1, 3]
    assert read.rows.weight_norms.tolist() == [0.5, 0.75]
    assert read.rows.embeddings.tolist() == [[1, 0, 2], [0, 0.5, 0]]
    assert list(read.other) == ["colour"]
    assert read.notes == ("arrays without one entry per row are not kept: 'version'",)


def test_another_class_order_is_matched_by_name(archive):
    path = archive(
        scores=[[1.0, 2.0, 3.0]],
        labels=[2],
        class_names=["c", "a", "b"],
        class_counts=[30, 10, 20],
        class_weights=[3.0, 1.0, 2.0],
        similarity=np.arange(9.0).reshape(3, 3),
    )
    read = read_score_set(path, class_names=["a", "b", "c"])
    assert read.rows.scores.tolist() == [[2, 3, 1]]
    assert read.rows.labels.tolist() == [1]
    assert read.rows.class_counts.tolist() == [10, 20, 30]
    assert read.rows.class_weights.tolist() == [1, 2, 3]
    assert read.rows.similarity[0].tolist() == [4, 5, 3]


def test_candidates_in_another_class_order(archive):
    path = archive(
        candidate_ids=[[0, 1], [2, -1]], candidate_scores=[[5.0, 4.0], [1.0, np.nan]], class_names=["c", "a", "z"]
    )
    with pytest.raises(InputError, match=r"class_names\[2\] is 'z', which is not among the 3 known classes"):
        read_score_set(path, class_names=["a", "b", "c"], need_labels=False)
    read = read_score_set(path, class_names=["a", "b", "c"], unknown_classes="append", need_labels=False)
    assert read.layout == "candidates"
    assert read.new_classes == ("z",)
    assert read.rows.scores.ids.tolist() == [[2, 0], [3, -1]]
    assert read.rows.scores.n_classes == 4


def test_half_known_counts_are_left_out(archive):
    path = archive(candidate_ids=[[0, 1]], candidate_scores=[[5.0, 4.0]], class_names=["c", "a"], class_counts=[2, 3])
    assert read_score_set(path, class_names=["a", "b", "c"], need_labels=False).rows.class_counts is None


def test_any_array_about_classes_says_how_many_there_are(archive):
    lists = {"candidate_ids": [[0, 1]], "candidate_scores": [[5.0, 4.0]]}
    for name in ("class_counts", "class_groups", "class_weights", "weight_norms"):
        read = read_score_set(archive(**lists, **{name: np.arange(1.0, 6.0)}), need_labels=False)
        assert read.rows.scores.n_classes == 5


def test_ids_need_no_names(archive):
    path = archive(candidate_ids=[[0, 1]], candidate_scores=[[5.0, 4.0]], labels=[7])
    read = read_score_set(path)
    assert read.class_names is None
    assert read.rows.scores.n_classes == 8
    classes = ClassFile(tuple("abcdefgh"), np.arange(8.0))
    read = read_score_set(path, classes=classes)
    assert read.class_names == classes.names
    assert "by position" in read.notes[0]


def test_plain_arrays_are_mapped_not_copied(tmp_path):
    scores = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.save(tmp_path / "s.npy", scores)
    np.save(tmp_path / "l.npy", [0, 1, 1])
    read = read_score_set(tmp_path / "s.npy", labels_path=tmp_path / "l.npy")
    assert isinstance(read.rows.scores.base, np.memmap)
    assert read.rows.scores.tolist() == scores.tolist()
    assert read.rows.labels.tolist() == [0, 1, 1]


@pytest.mark.needs("pyarrow")
def test_labels_of_arrays_from_a_table(archive, tmp_path):
    (tmp_path / "l.csv").write_text("row,label\n8,b\n7,a\n")
    path = archive(scores=[[1.0, 2.0], [3.0, 4.0]], row_ids=[7, 8], class_names=["a", "b"])
    assert read_score_set(path, labels_path=tmp_path / "l.csv").rows.labels.tolist() == ["a", "b"]
    path = archive(scores=[[1.0, 2.0], [3.0, 4.0]], class_names=["a", "b"])
    with pytest.raises(InputError, match="the labels have row ids, but the scores do not"):
        read_score_set(path, labels_path=tmp_path / "l.csv")
    (tmp_path / "l.csv").write_text("label\nb\na\nb\n")
    with pytest.raises(InputError, match="there are 3 labels for 2 rows"):
        read_score_set(path, labels_path=tmp_path / "l.csv")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"logits": [[1.0, 2.0]]},
            "there are no scores; save an array 'scores', or 'candidate_ids' .* the file has 'logits'",
        ),
        ({"scores": [1.0, 2.0]}, r"scores has shape \(2,\); expected 2 dimensions"),
        ({"scores": [["a", "b"]]}, "scores has dtype <U1; pass real numbers"),
        ({"scores": [[1.0]]}, "scores has 1 column; reranking needs at least two classes"),
        ({"scores": np.zeros((0, 3))}, r"scores has shape \(0, 3\); save at least one row"),
        ({"scores": [[1.0, 2.0], [3.0, np.nan]]}, r"scores\[1, 1\] is nan; scores must be finite"),
        ({"scores": [[1.0, np.inf]]}, r"scores\[0, 1\] is inf"),
        ({"scores": [[1.0, 2.0]], "labels": [0, 1]}, r"labels has shape \(2,\), but there are 1 rows"),
        ({"scores": [[1.0, 2.0]], "labels": [2]}, r"labels\[0\] is 2; labels are class ids from 0 to 1, or −1"),
        ({"scores": [[1.0, 2.0]], "labels": [0.5]}, r"labels\[0\] is 0.5"),
        (
            {"scores": [[1.0, 2.0]], "labels": ["a"]},
            "labels are names .the first is 'a'., but there are no class_names; save them",
        ),
        ({"scores": [[1.0, 2.0]], "class_names": ["a"]}, "scores has 2 columns, but there are 1 classes"),
        ({"scores": [[1.0, 2.0]], "class_names": ["a", "a"]}, "class_names repeats 'a' at 0 and 1"),
        ({"scores": [[1.0, 2.0]], "class_names": [1, 2]}, "class_names has shape .* save one text per class"),
        ({"scores": [[1.0, 2.0]], "class_counts": [1]}, r"class_counts has shape \(1,\), but there are 2 classes"),
        ({"scores": [[1.0, 2.0]], "similarity": [1.0, 2.0]}, r"similarity has shape \(2,\)"),
        ({"scores": [[1.0, 2.0]], "class_weights": [[1.0, 2.0]]}, r"class_weights has shape \(1, 2\), but there are 2"),
        ({"scores": [[1.0, 2.0]], "embeddings": [1.0]}, r"embeddings has shape \(1,\), but there are 1 rows"),
        ({"scores": [[1.0, 2.0]], "embeddings": np.eye(2)}, r"embeddings has shape \(2, 2\), but there are 1 rows"),
        ({"scores": [[1.0, 2.0]], "embeddings": [[0.0, np.nan]]}, r"embeddings\[0, 1\] is nan"),
        ({"candidate_ids": [[0, 0]], "candidate_scores": [[1.0, 2.0]]}, "row 0 lists class 0 twice"),
        ({"candidate_ids": [[0, np.nan]], "candidate_scores": [[1.0, 2.0]]}, "class ids are whole numbers"),
        (
            {"candidate_ids": [[0, 1e12]], "candidate_scores": [[1.0, 2.0]]},
            r"the largest entry of candidate_ids is 1e\+12",
        ),
        ({"candidate_ids": [[0, 1]], "candidate_scores": [[1.0]]}, "the shapes must match"),
    ],
)
def test_bad_arrays(archive, arrays, message):
    with pytest.raises(InputError, match=f"s.npz: .*{message}"):
        read_score_set(archive(**arrays), need_labels=False)


def test_a_wrong_number_of_classes(archive):
    with pytest.raises(
        InputError, match="the file has scores for 2 classes, but 3 classes are known; save class_names"
    ):
        read_score_set(archive(scores=[[1.0, 2.0]]), class_names=["a", "b", "c"])
    with pytest.raises(InputError, match="scores has no column for the known class 'b'"):
        read_score_set(archive(scores=[[1.0, 2.0]], class_names=["a", "c"]), class_names=["a", "b", "c"])


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was opened",))


def test_pickles_are_never_opened(tmp_path):
    trap = np.array([[Trap(), Trap()]], dtype=object)
    np.savez(tmp_path / "s.npz", scores=trap)
    np.save(tmp_path / "s.npy", trap, allow_pickle=True)
    (tmp_path / "p.npy").write_bytes(pickle.dumps(Trap()))
    for name in ("s.npz", "s.npy"):
        with pytest.raises(InputError, match="contains Python objects, which are never loaded"):
            read_score_set(tmp_path / name)
    with pytest.raises(InputError, match="not a readable npy file"):
        read_score_set(tmp_path / "p.npy")


def test_a_header_that_declares_more_than_the_file_holds(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40, 1 << 10)})
    with zipfile.ZipFile(tmp_path / "s.npz", "w") as file:
        file.writestr("scores.npy", header.getvalue())
    (tmp_path / "s.npy").write_bytes(header.getvalue())
    with pytest.raises(InputError, match=r"array 'scores' declares shape .* which is more than the file contains"):
        read_score_set(tmp_path / "s.npz")
    with pytest.raises(InputError, match="not a readable npy file"):
        read_score_set(tmp_path / "s.npy")


def test_an_archive_that_unpacks_to_far_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr("repair.io.formats.HARMLESS", 1 << 16)
    np.savez_compressed(tmp_path / "s.npz", scores=np.zeros((1000, 1000)))
    with pytest.raises(InputError, match="bytes decompress to"):
        read_score_set(tmp_path / "s.npz")


def test_one_name_twice(tmp_path):
    content = io.BytesIO()
    np.save(content, np.eye(2))
    with zipfile.ZipFile(tmp_path / "s.npz", "w") as file:
        file.writestr("scores.npy", content.getvalue())
        file.writestr("scores", content.getvalue())
    with pytest.raises(InputError, match="the file contains the array 'scores' twice"):
        read_score_set(tmp_path / "s.npz")
