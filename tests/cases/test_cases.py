"""The library against the shared cases: both kernels, single rows, saved copies, and files on the command line."""

import json
from dataclasses import replace

import numpy as np
import pytest

from plain_model import plain_ranking
from repair import InputError, kernels, load
from repair.rerankers.modes import MODES
from repair.terms.registry import DEFAULT_LEARNED_TERMS, PAPER_TERMS
from runtimes import RANKED, RUNTIMES, accepted, arrow_table, model_of, refused
from shared_cases import CASES, EXACT, FIXED_TERMS, FOLDER, LEARNED

REFUSED = [case for case in CASES if case.refused is not None]


@pytest.fixture(params=["plain", "compiled"])
def some_kernels(request, monkeypatch):
    """Use only the kernels in numpy, or only those that numba compiles."""
    if request.param == "compiled":
        pytest.importorskip("numba")
        monkeypatch.setattr(kernels, "loaded", kernels.best_kernels())
    else:
        monkeypatch.setattr(kernels, "loaded", None)
        monkeypatch.setattr(kernels, "best_kernels", lambda: kernels.plain)


def skip_without(case):
    for module in case.needs:
        pytest.importorskip(module)


@pytest.mark.parametrize("case", RANKED, ids=str)
def test_reranking(case, some_kernels):
    skip_without(case)
    ranking = case.rerank(model_of(case.model_path))
    case.check(ranking.ids, ranking.scores, ranking.probabilities)


@pytest.mark.parametrize("case", RANKED, ids=str)
def test_one_row_at_a_time(case):
    skip_without(case)
    for row in range(len(case)):
        alone = case.take(row)
        ranking = alone.rerank(model_of(case.model_path))
        alone.check(ranking.ids, ranking.scores, ranking.probabilities)


def run_rerank_one(case):
    """Return the rankings of the rows of a case, each on its own, with padding."""
    ranked = [np.full(case.expected_ids.shape, fill, dtype=np.float64) for fill in (-1, -np.inf, 0.0)]
    for row in range(len(case)):
        candidates = case.scores[row]
        if not case.is_dense:
            listed = zip(case.ids[row].tolist(), case.scores[row].tolist(), strict=True)
            candidates = {class_id: score for class_id, score in listed if class_id >= 0}
        vector = None if case.embeddings is None else case.embeddings[row]
        answer = model_of(case.model_path).rerank_one(candidates, embedding=vector, **case.settings)
        for place, (class_id, _, *numbers) in enumerate(answer):
            for array, value in zip(ranked, (class_id, *numbers), strict=True):
                array[row, place] = value
    return ranked


@pytest.mark.parametrize("case", accepted("`rerank_one`"), ids=str)
def test_rerank_one(case, some_kernels):
    skip_without(case)
    case.check(*run_rerank_one(case))


@pytest.mark.parametrize("case", refused("`rerank_one`"), ids=str)
def test_what_rerank_one_refuses(case):
    with pytest.raises(TypeError, match=RUNTIMES["`rerank_one`"](case)[0]):
        run_rerank_one(case)


@pytest.mark.parametrize("case", RANKED, ids=str)
def test_the_same_computed_plainly(case):
    """What the expected rankings were reviewed with, which shares no code with the library."""
    case.check(*plain_ranking(case), tolerance=EXACT if FIXED_TERMS.issuperset(case.terms) else LEARNED)


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_is_refused(case):
    with pytest.raises(InputError) as caught:
        case.rerank(model_of(case.model_path))
    assert case.refused in str(caught.value)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.safetensors")), ids=lambda path: path.stem)
def test_a_model_that_is_loaded_and_saved_is_the_same_file(path, tmp_path):
    load(path).save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def write_npz(case, path):
    arrays = {"scores": case.scores}
    if case.ids is not None:
        arrays = {"candidate_ids": case.ids, "candidate_scores": case.scores}
    if case.embeddings is not None:
        arrays["embeddings"] = case.embeddings
    np.savez(path, **arrays)


def write_arrow(case, path):
    from pyarrow import feather

    feather.write_feather(arrow_table(case), str(path))


WRITERS = {"Arrow file": ("in.arrow", write_arrow), "`.npz` file": ("in.npz", write_npz)}


def each_file(cases_of):
    return [pytest.param(kind, case, id=f"{case}-{kind}") for kind in WRITERS for case in cases_of(kind)]


def command(kind, case, folder):
    """Write the rows of a case, and return the command that reranks them."""
    name, write = WRITERS[kind]
    write(case, folder / name)
    settings = [f"--{setting.replace('_', '-')}={value}" for setting, value in case.settings.items()]
    vectors = []
    if case.embeddings is not None and write is write_arrow:
        np.save(folder / "vectors.npy", case.embeddings)
        vectors = ["--embeddings", folder / "vectors.npy"]
    target = folder / "out.npz"
    return ["rerank", case.model_path, folder / name, "-o", target, "--layout", "lists", *settings, *vectors]


@pytest.mark.needs("typer", "pyarrow")
@pytest.mark.parametrize(("kind", "case"), each_file(refused))
def test_what_the_command_line_refuses(kind, case, repair, tmp_path):
    done = repair(*command(kind, case, tmp_path))
    assert done.code == 2
    assert RUNTIMES[kind](case)[0] in done.err
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.needs("typer", "pyarrow")
@pytest.mark.parametrize(("kind", "case"), each_file(accepted))
def test_files_on_the_command_line(kind, case, repair, tmp_path):
    skip_without(case)
    done = repair(*command(kind, case, tmp_path))
    assert done.code == 0, done.err
    target = tmp_path / "out.npz"
    with np.load(target) as written:
        ids, scores, shares = (written[f"candidate_{part}"] for part in ("ids", "scores", "probabilities"))
    narrower = ((0, 0), (0, case.expected_ids.shape[1] - ids.shape[1]))  # lists in tables have no padding
    case.check(
        np.pad(ids, narrower, constant_values=-1),
        np.pad(scores, narrower, constant_values=-np.inf),
        np.pad(shares, narrower),
    )


def test_every_mode_term_type_and_trait_occurs():
    assert {case.mode for case in CASES} >= {*MODES} - {"auto"}
    assert {case.name.split("/")[0] for case in CASES} >= {"auto", "auto_base", "auto_embeddings"}
    terms = {term for case in CASES for term in case.terms}
    assert terms >= {*PAPER_TERMS, *DEFAULT_LEARNED_TERMS}
    assert {case.dtype for case in CASES} == {"float16", "float32", "float64", "int64"}
    assert {case.reads for case in CASES} == {"candidates", "scores"}
    assert {trait for case in CASES for trait in case.traits} == {
        "embeddings", "tau", "scale", "names", "strength", "dial", "target_prior", "class_costs", "shortlist_tau",
        "cuts", "new classes", "approximate", "ties", "ragged", "-inf", "extremes", "large", "one row",
        "no candidates", "empty", "invalid",
    }  # fmt: skip


def test_the_folder_stays_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 1_000_000


def test_every_model_has_its_cases():
    assert {path.stem for path in FOLDER.glob("*.safetensors")} == {path.stem for path in FOLDER.glob("*.json")}
    for path in FOLDER.glob("*.json"):
        described = json.loads(path.read_text(encoding="utf-8"))
        terms = [term.name for term in model_of(path.with_suffix(".safetensors")).state.correction.terms]
        assert terms == described["terms"]


CASE = next(case for case in CASES if case.name == "pairwise/ties")


@pytest.mark.parametrize("row", range(len(CASE)))
def test_a_wrong_order_is_seen(row):
    ids, scores = CASE.expected_ids.copy(), CASE.expected_scores.copy()
    CASE.check(ids, scores, CASE.expected_probabilities)
    ids[row, [0, 1]] = ids[row, [1, 0]]
    with pytest.raises(AssertionError, match=f"row {row}"):
        CASE.check(ids, tolerance=1e-5)


@pytest.mark.parametrize("part", ["scores", "probabilities"])
def test_a_wrong_number_is_seen(part):
    parts = {"scores": CASE.expected_scores, "probabilities": CASE.expected_probabilities}
    wrong = parts[part].copy()
    wrong[2, 1] += 1e-4
    with pytest.raises(AssertionError, match="row 2"):
        CASE.check(CASE.expected_ids, **{**parts, part: wrong}, tolerance=1e-5)


def test_candidates_that_differ_by_rounding_may_change_places_but_ties_may_not():
    scores = np.array([[2.0, 1.0 + 1e-7, 1.0, 1.0]])
    case = replace(CASE, expected_ids=np.array([[5, 4, 2, 3]]), expected_scores=scores)
    case.check([[5, 2, 4, 3]], tolerance=1e-5)
    with pytest.raises(AssertionError):
        case.check([[5, 2, 4, 3]], tolerance=1e-9)
    with pytest.raises(AssertionError):
        case.check([[5, 4, 3, 2]], tolerance=1e-5)
