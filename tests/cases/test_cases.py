"""The library against the shared cases: both kernels, single rows, saved copies, and files on the command line."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from plain_model import plain_ranking
from repair import InputError, kernels, load
from repair.rerankers.modes import MODES
from repair.terms.registry import DEFAULT_LEARNED_TERMS, PAPER_TERMS
from shared_cases import CASES, EXACT, FIXED_TERMS, FOLDER, LEARNED

RANKED = [case for case in CASES if case.refused is None]
REFUSED = [case for case in CASES if case.refused is not None]


@cache
def model_of(path):
    return load(path)


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
    import pyarrow as pa
    from pyarrow import feather

    columns = {"scores": case.scores.tolist()}
    if case.ids is not None:
        kept = case.ids >= 0
        columns = {
            "candidate_ids": [row[which].tolist() for row, which in zip(case.ids, kept, strict=True)],
            "candidate_scores": [row[which].tolist() for row, which in zip(case.scores, kept, strict=True)],
        }
    feather.write_feather(pa.table(columns), str(path))


#: Settings that `repair rerank` has no option for.
NOT_ON_THE_COMMAND_LINE = {"target_prior", "class_costs"}


@pytest.mark.needs("typer", "pyarrow")
@pytest.mark.parametrize("write", [write_npz, write_arrow], ids=["npz", "arrow"])
@pytest.mark.parametrize("case", [case for case in RANKED if not case.traits & NOT_ON_THE_COMMAND_LINE], ids=str)
def test_files_on_the_command_line(case, write, repair, tmp_path):
    skip_without(case)
    source, target = tmp_path / f"in.{write.__name__.removeprefix('write_')}", tmp_path / "out.npz"
    write(case, source)
    dial = [f"--dial={case.settings['dial']}"] if case.settings else []
    vectors = []
    if case.embeddings is not None and write is write_arrow:
        np.save(tmp_path / "vectors.npy", case.embeddings)
        vectors = ["--embeddings", tmp_path / "vectors.npy"]
    done = repair("rerank", case.model_path, source, "-o", target, "--layout", "lists", *dial, *vectors)
    assert done.code == 0, done.err
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
