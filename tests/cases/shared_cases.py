"""The shared cases: models, inputs and expected rankings that every runtime must reproduce.

Tests import this module by its name (`pythonpath` in pyproject.toml)::

    from shared_cases import CASES

    @pytest.mark.parametrize("case", CASES, ids=str)
    def test_my_runtime(case): ...

README.md in this folder explains the files and how to make them again.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent
#: JSON has no such numbers, so they are stored as these texts.
NOT_FINITE = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}
#: How closely the library must reproduce its own scores, by whether a term was learned: such terms add up in float32,
#: in an order that depends on the machine.
EXACT, LEARNED = 1e-9, 1e-5


@dataclass(frozen=True, eq=False)
class Case:
    """One input of one model, and the ranking that it must give or the reason why it is refused.

    Attributes
    ----------
    name : str
        Name of the model and of the input, such as ``"pairwise/ties"``.
    about : str
        What the case is for, in a few words.
    model_path : Path
        The model file.
    mode, terms : str, tuple of str
        The mode of the fitted model, or the name of a baseline, and the names of its terms.
    reads : {"candidates", "scores"}
        What the terms of the model read: only the candidates, or the scores of all classes too.
    traits : frozenset of str
        What else is special: "embeddings", "tau", "scale", "names", "strength", "dial", "target_prior", "class_costs",
        "shortlist_tau", "cuts", "new classes" and "approximate" of models and settings; "ties", "ragged", "-inf",
        "extremes", "one row", "no candidates", "empty", "invalid" of inputs.
    n_classes : int
        Number of classes K of the input.
    ids : ndarray of int (n, k) or None
        Candidates, −1 for padding.  None if `scores` has a column per class.
    scores : ndarray (n, K) or (n, k)
    embeddings : ndarray (n, d) or None
    settings : dict
        Keywords of ``rerank``: dial, target_prior, class_costs.
    expected_ids, expected_scores, expected_probabilities : ndarray (n, k) or None
        The ranking, best first, id −1, score −Inf and probability 0 on padding.
    refused : str or None
        Part of the message with which the library refuses this input.  Then there is no ranking.
    needs : tuple of str
        Modules without which the library itself cannot run the case.
    """

    name: str
    about: str
    model_path: Path
    mode: str
    terms: tuple[str, ...]
    reads: str
    traits: frozenset[str]
    n_classes: int
    ids: np.ndarray | None
    scores: np.ndarray
    embeddings: np.ndarray | None
    settings: Mapping[str, Any]
    expected_ids: np.ndarray | None
    expected_scores: np.ndarray | None
    expected_probabilities: np.ndarray | None
    refused: str | None
    needs: tuple[str, ...]

    def __str__(self) -> str:
        return self.name

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def dtype(self) -> str:
        """Type of the scores: "float16", "float32", "float64" or "int64"."""
        return self.scores.dtype.name

    @property
    def is_dense(self) -> bool:
        """Whether the input has a score for every class."""
        return self.ids is None

    @property
    def tolerance(self) -> float:
        """How closely the library must reproduce the scores."""
        return LEARNED if {*self.terms} - FIXED_TERMS else EXACT

    def input(self):
        """Return what ``rerank`` takes: an array (n, K), or a `Shortlist`."""
        from repair import Shortlist

        return self.scores if self.ids is None else Shortlist.from_candidates(self.ids, self.scores, self.n_classes)

    def rerank(self, model):
        """Rerank with a model of the library."""
        return model.rerank(self.input(), embeddings=self.embeddings, **self.settings)

    def take(self, row: int) -> "Case":
        """Return the same case with a single row."""
        parts = ("ids", "scores", "embeddings", "expected_ids", "expected_scores", "expected_probabilities")
        changed = {part: getattr(self, part)[[row]] for part in parts if getattr(self, part) is not None}
        return replace(self, name=f"{self.name}[{row}]", **changed)

    def check(self, ids, scores=None, probabilities=None, tolerance: float | None = None) -> None:
        """Check a ranking: the order, and the scores and probabilities if a runtime returns them.

        Two candidates may change places only if their expected scores are closer than the tolerance, but not equal.
        The tolerance is relative to the largest score of the row, and at least absolute.
        """
        close = self.tolerance if tolerance is None else tolerance
        assert self.expected_ids is not None
        got = np.asarray(ids)
        assert got.shape == self.expected_ids.shape, f"{self}: {got.shape} instead of {self.expected_ids.shape}"
        for row in range(len(got)):
            self._check_row(row, got[row], scores, probabilities, close)

    def _check_row(self, row, got, scores, probabilities, close):
        expected, wanted = self.expected_ids[row], self.expected_scores[row]
        real = int((expected >= 0).sum())
        where = f"{self}, row {row}: {got.tolist()} instead of {expected.tolist()}"
        assert (got[real:] == -1).all(), where
        assert sorted(got[:real]) == sorted(expected[:real]), where
        place = {int(one): position for position, one in enumerate(got[:real])}
        allowed = close * max(1.0, float(np.abs(wanted[:real]).max(initial=0.0)))
        for first in range(real):
            for second in range(first + 1, real):
                gap = wanted[first] - wanted[second]
                if gap == 0.0 or gap > 2.0 * allowed:
                    assert place[int(expected[first])] < place[int(expected[second])], where
        order = [place[int(one)] for one in expected[:real]]
        if scores is not None:
            returned = np.asarray(scores, dtype=np.float64)[row]
            np.testing.assert_allclose(returned[order], wanted[:real], rtol=0, atol=allowed, err_msg=where)
            assert np.isneginf(returned[real:]).all(), where
        if probabilities is not None:
            returned = np.asarray(probabilities, dtype=np.float64)[row]
            true = self.expected_probabilities[row]
            np.testing.assert_allclose(returned[order], true[:real], rtol=0, atol=max(close, allowed), err_msg=where)
            assert (returned[real:] == 0.0).all(), where


#: Terms that are not learned from rows.
FIXED_TERMS = {"score_gap", "rank_gap", "log_prob_ratio", "similarity", "log_freq_ratio", "score"}


def plain(array) -> Any:
    """Return an array as nested lists, with texts for numbers that JSON does not have."""
    array = np.asarray(array)
    if array.ndim:
        return [plain(part) for part in array]
    value = array.item()
    return value if np.isfinite(value) else str(value)


def array_of(values: Any, dtype: str) -> np.ndarray | None:
    """Return the array of nested lists that `plain` returned."""
    if values is None:
        return None
    read = [[NOT_FINITE[one] if isinstance(one, str) else one for one in row] for row in values]
    width = len(read[0]) if read else 0
    return np.array(read, dtype=dtype).reshape(len(read), width)


def read_cases(path: Path) -> list[Case]:
    """Return the cases of one model."""
    described = json.loads(path.read_text(encoding="utf-8"))
    model = {name: described[name] for name in ("mode", "reads")}
    cases = []
    for given in described["cases"]:
        expected = given.get("expected") or {}
        scores = array_of(given["scores"], given["dtype"])
        if not len(scores):
            scores = np.empty((0, given["n_classes"]), dtype=given["dtype"])
        cases.append(
            Case(
                name=f"{path.stem}/{given['name']}",
                about=given["about"],
                model_path=path.with_suffix(".safetensors"),
                terms=tuple(described["terms"]),
                traits=frozenset([*described["traits"], *given["traits"]]),
                n_classes=given["n_classes"],
                ids=array_of(given.get("ids"), "int64"),
                scores=scores,
                embeddings=array_of(given.get("embeddings"), "float32"),
                settings=given.get("settings", {}),
                expected_ids=array_of(expected.get("ids"), "int64"),
                expected_scores=array_of(expected.get("scores"), "float64"),
                expected_probabilities=array_of(expected.get("probabilities"), "float64"),
                refused=given.get("refused"),
                needs=tuple(described["needs"]),
                **model,
            )
        )
    return cases


#: All cases, model by model.
CASES = [case for path in sorted(FOLDER.glob("*.json")) for case in read_cases(path)]
