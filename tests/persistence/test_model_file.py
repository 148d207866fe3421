import json
import os

import numpy as np
import pytest
from scipy import sparse

from repair import (
    ArtifactError,
    Base,
    ClasswiseTemperature,
    InputError,
    LogitAdjustment,
    Reranker,
    ShrinkageOptions,
    TauNormalization,
    Temperature,
    load,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def same_model(one, other, scores):
    first, second = one.rerank(scores), other.rerank(scores)
    assert first.ids.tobytes() == second.ids.tobytes()
    assert first.scores.tobytes() == second.scores.tobytes()
    assert one.fit_summary_ == other.fit_summary_
    assert one.weights_ == other.weights_
    assert (one.class_counts_ == other.class_counts_).all()
    assert (one.unseen_classes_ == other.unseen_classes_).all()
    target = np.linspace(1, 2, scores.shape[1])
    assert (one.rerank(scores, target_prior=target).scores == other.rerank(scores, target_prior=target).scores).all()
    before, after = (
        {name: value for name, value in model.get_params().items() if name not in ("grid", "terms")}
        for model in (one, other)
    )
    assert before == after
    assert one.chosen_ == other.chosen_


@pytest.mark.parametrize(
    "model",
    [
        Reranker("pairwise", n_candidates=6, tau=0.5, alpha=0.2),
        Reranker("classwise", n_candidates=6, shrinkage=ShrinkageOptions("eb", frequency_bins=3)),
        Reranker("pairwise_only", n_candidates=6, terms=("score_gap", "similarity"), dial=0.3),
        Reranker("pairwise", n_candidates=6, shrinkage="paper"),
        Reranker("pairwise", n_candidates=6, dial="macro"),
        Base(6),
        LogitAdjustment(6, grid=np.array([0.0, 0.5, 1.0])),
        TauNormalization(6, tau=0.5),
        Temperature(6),
        ClasswiseTemperature(6, shrinkage="eb"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_method_survives_a_round_trip(problem, path, model):
    norms = np.linspace(1, 2, 20)
    model.fit(problem.scores, problem.labels, weight_norms=norms, **problem.optional_fields)
    model.save(path)
    again = load(path)
    assert type(again) is type(model)
    same_model(model, again, problem.scores)
    again.save(path.with_name("again"))
    assert path.read_bytes() == path.with_name("again").read_bytes()
    if model.shrinkage_ is not None:
        assert (model.shrinkage_.factors == again.shrinkage_.factors).all()
        assert model.shrinkage_.kind == again.shrinkage_.kind


@pytest.mark.parametrize("kind", [np.float32, sparse.csr_matrix])
def test_similarities_are_kept_in_their_own_form(problem, path, kind):
    given = problem.similarity * (problem.similarity > 0.7)
    given = given.astype(kind) if kind is np.float32 else kind(given)
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, similarity=given)
    model.save(path)
    same_model(model, load(path), problem.scores)


def test_a_similarity_function_is_not_stored_but_asked_for(problem, path):
    def similarity(y, j):
        return problem.similarity[y, j]

    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, similarity=similarity)
    model.save(path)
    with pytest.raises(ArtifactError, match=r"pass it as load\(path, similarity=function\)"):
        load(path)
    same_model(model, load(path, similarity=similarity), problem.scores)
    Reranker("classwise", n_candidates=problem.k).fit(problem.scores, problem.labels).save(path)
    with pytest.raises(InputError, match="leave the argument out"):
        load(path, similarity=similarity)


def test_names_of_any_kind_survive(problem, path):
    names = [f"ж{i}</script>" for i in range(18)] + ["", "\udcff line\nbreak"]
    labels = np.array(names)[problem.labels]
    model = Reranker("pairwise", n_candidates=problem.k).fit(
        problem.scores, labels, class_names=names, **problem.optional_fields
    )
    model.save(path)
    assert (load(path).predict(problem.scores) == model.predict(problem.scores)).all()


def test_the_same_fit_gives_the_same_bytes(problem, tmp_path):
    contents = []
    for name in ("one", "two"):
        model = Reranker("pairwise", n_candidates=problem.k, shrinkage="eb").fit(
            problem.scores, problem.labels, **problem.optional_fields
        )
        model.save(tmp_path / name)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]


def test_the_description_tells_what_the_file_holds(problem, path):
    from safetensors import safe_open

    Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields).save(
        path
    )
    with safe_open(path, "numpy") as opened:
        described = json.loads(opened.metadata()["repair-reranker"])
    assert described["row_level_content"] is False
    assert described["schema"] == 2
    assert described["summary"]["n_rows"] == 300


def test_saving_needs_a_fit_and_a_method_of_ours(problem, path):
    with pytest.raises(ValueError, match="not fitted yet"):
        Reranker("pairwise").save(path)

    class Mine(Reranker):
        pass

    with pytest.raises(ArtifactError, match="Mine is not one of this library's methods"):
        Mine("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields).save(
            path
        )
    assert not path.exists()


@pytest.mark.system("file modes", "symbolic links")
def test_saving_replaces_and_follows_links_and_obeys_the_umask(problem, tmp_path):
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o600)
    link.symlink_to(target)
    before = os.umask(0o027)
    try:
        model.save(link)
        model.save(tmp_path / "fresh")
    finally:
        os.umask(before)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600  # an existing file keeps its permissions
    assert (tmp_path / "fresh").stat().st_mode & 0o777 == 0o640
    same_model(model, load(target), problem.scores)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fresh", "link", "target"]


def test_a_listed_class_without_information_stays_unseen_after_loading(problem, path):
    """Information, not label counts, says which offsets the rows speak of."""
    model = Reranker("classwise", n_candidates=problem.k).fit(problem.scores[:60], problem.labels[:60])
    never_a_label = np.setdiff1d(np.arange(20), problem.labels[:60])
    listed = np.setdiff1d(never_a_label, model.unseen_classes_)
    assert len(listed) > 0
    model.save(path)
    assert (load(path).unseen_classes_ == model.unseen_classes_).all()


def test_a_model_that_could_not_be_loaded_is_not_saved(problem, path):
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    model.mode = "bad"
    with pytest.raises(ArtifactError, match="cannot be saved: mode is 'bad'"):
        model.save(path)
    model.mode, model.dial = "pairwise", float("nan")
    with pytest.raises(ArtifactError, match="cannot be saved: dial is nan"):
        model.save(path)
    assert not path.exists()


def stored(model, path, change_description=None, change_arrays=None):
    """Save a model, change what the file contains, and return its path."""
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

    model.save(path)
    with safe_open(path, framework="numpy") as file:
        description = json.loads(file.metadata()["repair-reranker"])
    arrays = dict(load_file(path))
    (change_description or (lambda _: None))(description)
    (change_arrays or (lambda _: None))(arrays)
    save_file(arrays, path, metadata={"repair-reranker": json.dumps(description)})
    return path


def test_the_fingerprint_survives_a_round_trip(problem, path):
    model = Reranker("classwise", n_candidates=6).fit(problem.scores, problem.labels)
    model.save(path)
    before, after = model.fingerprint_, load(path).fingerprint_
    for name in ("first_counts", "listed_counts", "label_counts", "row_hashes"):
        assert getattr(before, name).tobytes() == getattr(after, name).tobytes()
    for name in ("gaps", "spans"):
        one, other = getattr(before, name), getattr(after, name)
        assert (one.edges.tolist(), one.shares.tolist(), one.n_values) == (
            other.edges.tolist(),
            other.shares.tolist(),
            other.n_values,
        )
    for name in ("width", "types", "share", "grouped"):
        assert getattr(before, name) == getattr(after, name)


def test_a_file_from_before_there_were_fingerprints_still_works(problem, path):
    def drop(arrays):
        for name in [name for name in arrays if name.startswith("fingerprint.")]:
            del arrays[name]

    model = Reranker("classwise", n_candidates=6).fit(problem.scores, problem.labels)
    old = load(stored(model, path, lambda described: described.pop("fingerprint"), drop))
    assert old.fingerprint_ is None
    assert (old.rerank(problem.scores).ids == model.rerank(problem.scores).ids).all()
    assert old.with_classes(["x"]).fingerprint_ is None
    old.save(path)
    assert load(path).fingerprint_ is None


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("row_hashes", lambda values: values[::-1].copy(), "sorted"),
        ("row_hashes", lambda values: values[:0], "1 to 4096"),
        ("types", lambda values: values + 2, "between 0 and 1"),
        ("gaps.edges", lambda values: values[::-1].copy(), "not a distribution"),
        ("spans.shares", lambda values: values / 2, "not a distribution"),
        ("first_counts", lambda values: values[:-1], "for each of 20 classes"),
        ("label_counts", lambda values: values - 1000, "for each of 20 classes"),
    ],
)
def test_a_damaged_fingerprint_is_refused(problem, path, name, change, message):
    def damage(arrays):
        arrays[f"fingerprint.{name}"] = change(arrays[f"fingerprint.{name}"])

    model = Reranker("classwise", n_candidates=6).fit(problem.scores, problem.labels)
    with pytest.raises(ArtifactError, match=message):
        load(stored(model, path, change_arrays=damage))
