"""Embeddings from files, from the fit to the explanation."""

import json

import numpy as np
import pytest

from repair import ExtendedOptions, Reranker, load

pytestmark = pytest.mark.needs("typer", "pyarrow")


@pytest.fixture(scope="module")
def vectors(problem_files, tmp_path_factory):
    """Vectors of both parts that tell the label, with and without row ids, and labelled reference rows."""
    folder = tmp_path_factory.mktemp("vectors")
    rng, made = np.random.default_rng(0), {}
    for part in ("calibration", "test"):
        with np.load(problem_files / f"{part}.npz") as arrays:
            labels, names = arrays["labels"], arrays["class_names"]
        made[part] = np.eye(12)[labels] + 0.4 * rng.normal(size=(len(labels), 12))
        np.save(folder / f"{part}.npy", made[part].astype(np.float32))
        order = rng.permutation(len(labels))
        ids = np.array([f"{part[0]}{row}" for row in range(len(labels))])
        np.savez(folder / f"{part}.npz", embeddings=made[part][order].astype(np.float32), row_ids=ids[order])
    np.savez(folder / "reference.npz", embeddings=made["calibration"][:30], labels=names[labels[:30] * 0])
    np.save(folder / "labels.npy", names[labels[:30]])
    return folder


@pytest.fixture(scope="module")
def extended(problem_files, vectors):
    """A model of the dense rows with embeddings."""
    from repair.cli import run

    path = vectors / "model.safetensors"
    given = ["--classes", problem_files / "classes.csv", "--embeddings", vectors / "calibration.npy"]
    fit = ["fit", problem_files / "calibration.parquet", "-o", path, "--mode", "extended", "--n-candidates", "6"]
    assert run(list(map(str, [*fit, *given]))) == 0
    return path


def test_a_model_is_fitted_and_used_with_vectors(repair, data, vectors, extended, tmp_path):
    model = load(extended)
    assert {"context", "neighbours", "head"} <= set(model.weights_)
    test, given = data / "test.parquet", ("--embeddings", vectors / "test.npy")
    out = tmp_path / "ranked.npz"
    assert repair("rerank", extended, test, "-o", out, *given).code == 0
    with np.load(data / "test.npz") as arrays, np.load(out) as ranked:
        expected = model.rerank(arrays["scores"], embeddings=np.load(vectors / "test.npy"))
        key = next(name for name in ranked.files if name.endswith("scores") and "base" not in name)
        np.testing.assert_allclose(ranked[key], expected.scores, atol=1e-5)
    found = json.loads(repair("evaluate", extended, test, *given, "--json").out)
    assert found["verdict"]["overall"]["gain"] > 0.05
    shown = repair("explain", extended, test, "--row", "t3", *given)
    assert shown.code == 0
    assert "neighbours" in shown.out


def test_embeddings_in_the_file_of_scores_are_used(repair, data, vectors, tmp_path):
    for part in ("calibration", "test"):
        with np.load(data / f"{part}.npz") as arrays:
            np.savez(tmp_path / f"{part}.npz", **arrays, embeddings=np.load(vectors / f"{part}.npy"))
    models = []
    for folder, given in ((tmp_path, ()), (data, ("--embeddings", vectors / "calibration.npy"))):
        out = tmp_path / f"{len(models)}.safetensors"
        done = repair("fit", folder / "calibration.npz", "-o", out, "--mode", "extended", "--n-candidates", "6", *given)
        assert done.code == 0, done.err
        models.append(out)
    assert "neighbours" in load(models[0]).weights_
    assert models[0].read_bytes() == models[1].read_bytes()
    assert repair("rerank", models[0], tmp_path / "test.npz", "-o", tmp_path / "own.npz").code == 0
    given = ("--embeddings", vectors / "test.npy")
    assert repair("rerank", models[0], data / "test.npz", "-o", tmp_path / "given.npz", *given).code == 0
    assert (tmp_path / "own.npz").read_bytes() == (tmp_path / "given.npz").read_bytes()
    assert json.loads(repair("inspect", tmp_path / "test.npz", "--json").out)["embeddings"] is True
    assert json.loads(repair("inspect", data / "test.npz", "--json").out)["embeddings"] is False


def test_lists_of_its_own_are_said_to_cover_other_rows(repair, data, tmp_path):
    rows = {}
    for part in ("calibration", "test"):
        with np.load(data / f"{part}.npz") as arrays:
            rows[part] = arrays["scores"], arrays["labels"], arrays["class_names"]
    scores, labels, names = rows["calibration"]
    model = Reranker("extended", n_candidates=3, extended=ExtendedOptions(shortlist_tau=2.0))
    model.fit(scores, labels, class_names=names.tolist(), class_counts=np.arange(12, 0, -1) ** 3)
    model.save(tmp_path / "model.safetensors")
    done = repair("evaluate", tmp_path / "model.safetensors", data / "test.npz")
    scores, labels, _ = rows["test"]
    by_base = int((np.argsort(-scores, axis=1)[:, :3] == labels[:, None]).sum())
    by_model = int((model.rerank(scores).ids == labels[:, None]).sum())
    assert f"{by_base} of 200 rows covered by Base, {by_model} by Extended, which builds its own shortlists" in done.out


def test_vectors_that_the_model_does_not_look_at_are_noted(repair, data, vectors, fitted, tmp_path):
    given = ("--embeddings", vectors / "test.npz")
    for command in (("evaluate",), ("rerank", "-o", tmp_path / "ranked.csv"), ("explain", "--row", "t3")):
        done = repair(command[0], fitted, data / "test.csv", *command[1:], *given)
        assert done.code == 0, done.err
        assert "this model does not use embeddings" in done.err


def test_inspect_parts_notes_and_sizes(repair, extended):
    text = repair("inspect", extended).out
    assert "context.basis 12×12" in text
    assert "context.matrix 12×" in text
    assert "kept by context" in text
    assert "kB)" in text
    notes = next(line for line in text.splitlines() if line.startswith("notes"))
    assert "; neighbours: the model keeps 400 labelled rows" in notes


def test_vectors_with_row_ids_are_matched_whatever_their_order(repair, data, vectors, extended, tmp_path):
    for name, kind in (("one.csv", "npy"), ("other.csv", "npz")):
        given = ("--embeddings", vectors / f"test.{kind}")
        assert repair("rerank", extended, data / "test.parquet", "-o", tmp_path / name, *given).code == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()


def test_reference_rows_come_from_one_file_or_two(repair, data, vectors, tmp_path):
    fit = ("fit", data / "calibration.csv", "--classes", data / "classes.csv", "--mode", "extended")
    own = ("--embeddings", vectors / "calibration.npz", "--reference-embeddings", vectors / "reference.npz")
    for more in ((), ("--reference-labels", vectors / "labels.npy")):
        done = repair(*fit, *own, *more, "-o", tmp_path / "model")
        assert done.code == 0, done.err
        assert "430 labelled rows" in done.out
    terms = load(tmp_path / "model").state.correction.terms
    labels = next(term for term in terms if term.name == "neighbours").labels
    assert len(set(labels[-30:].tolist())) > 1


def test_methods_are_compared_with_vectors(repair, data, vectors):
    both = ("--embeddings", vectors / "calibration.npy", "--test-embeddings", vectors / "test.npy")
    files = (data / "calibration.parquet", data / "test.parquet", "--classes", data / "classes.csv")
    done = repair("compare", *files, *both, "--methods", "base,extended", "--trials", 1, "--require", "extended")
    assert done.code == 0, done.err
    assert "extended passes" in done.out


@pytest.mark.needs("vl_convert")
def test_a_report_is_written_about_it(repair, data, vectors, extended, tmp_path):
    both = ("--embeddings", vectors / "calibration.npy", "--test-embeddings", vectors / "test.npy")
    files = (extended, data / "calibration.parquet", data / "test.parquet")
    done = repair("report", *files, *both, "-o", tmp_path / "page.html", "--rows", 2, "--figures", tmp_path / "charts")
    assert done.code == 0, done.err
    assert "page.html, and its charts to" in " ".join(done.out.split())
    assert "The Extended correction helps" in done.out


def save(path, array):
    np.save(path, array)
    return path


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("missing", "reads embeddings of 12 numbers per row; give --embeddings FILE"),
        ("width", "embeddings has 3 columns; expected 12"),
        ("rows", "embeddings has 5 rows, but there are 200"),
        ("nan", "embeddings[7, 2] is nan"),
        ("text", "embeddings has dtype"),
        ("csv", "must be .npy or .npz files"),
        ("key", "there is no array 'embeddings'; the file has 'x'"),
        ("ids", "there is no vector for row 't0'"),
        ("twice", "row_ids must have one id for each of the 200 vectors"),
        ("gone", "{no_such_file}"),
        ("damaged", "vectors.npy"),
    ],
)
def test_vectors_that_do_not_fit_are_named(repair, data, vectors, extended, tmp_path, no_such_file, case, message):
    path, good = tmp_path / "vectors.npy", np.load(vectors / "test.npy")
    if case == "nan":
        good[7, 2] = np.nan
    makers = {
        "width": lambda: save(path, good[:, :3]),
        "rows": lambda: save(path, good[:5]),
        "nan": lambda: save(path, good),
        "text": lambda: save(path, np.full((200, 12), "a")),
        "csv": lambda: data / "test.csv",
        "gone": lambda: tmp_path / "nothing.npy",
        "damaged": lambda: path.write_bytes(b"\x93NUMPY nonsense") and path,
    }
    archives = {
        "key": {"x": good},
        "ids": {"embeddings": good, "row_ids": np.array([f"q{row}" for row in range(200)])},
        "twice": {"embeddings": good, "row_ids": np.array(["t0"] * 200)},
    }
    if case in archives:
        path = tmp_path / "vectors.npz"
        np.savez(path, **archives[case])
    given = () if case == "missing" else ("--embeddings", path if case in archives else makers[case]())
    done = repair("rerank", extended, data / "test.parquet", "-o", tmp_path / "out.csv", *given)
    assert done.code == 2
    assert message.format(no_such_file=no_such_file) in " ".join(done.err.split())
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mode", "pairwise", "--embeddings", "calibration.npy"), "mode pairwise does not use embeddings"),
        (("--mode", "base", "--embeddings", "calibration.npy"), "mode base does not use embeddings"),
        (("--mode", "extended", "--reference-labels", "labels.npy"), "--reference-labels needs --reference-embeddings"),
        (("--mode", "extended", "--reference-embeddings", "calibration.npy"), "has no array 'labels'"),
        (
            ("--mode", "extended", "--reference-embeddings", "reference.npz"),
            "was passed without embeddings of the calibration rows",
        ),
        (("--mode", "extended", "--terms", "head"), "needs embeddings"),
    ],
)
def test_vectors_that_nobody_can_use_are_refused(repair, data, vectors, tmp_path, options, message):
    given = [vectors / one if one.endswith((".npy", ".npz")) else one for one in options]
    done = repair("fit", data / "calibration.parquet", "-o", tmp_path / "model", *given)
    assert done.code == 2
    assert message in " ".join(done.err.split())


def test_the_vectors_are_not_overwritten(repair, data, vectors, extended):
    given = ("--embeddings", vectors / "test.npz")
    done = repair("rerank", extended, data / "test.parquet", "-o", vectors / "test.npz", *given)
    assert done.code == 2
    assert "is an input of this command" in " ".join(done.err.split())
