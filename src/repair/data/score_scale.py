"""The scale of scores: logits are used as they are, and probabilities and other types are converted first.

A correction is added to scores on a log scale.  The type of the calibration scores is detected or said
once, and the model stores it, so `rerank` converts new rows in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, FloatArray
from repair.data.shortlist import Shortlist
from repair.errors import InputError, InputWarning, warn_user
from repair.validation.checks import check_choice, numeric_array

__all__ = ["AS_THEY_ARE", "SCORE_TYPES", "TITLES", "WITH_FLOOR", "ScoreScale", "between_0_and_1"]

LOGITS, PROBABILITIES, PERCENT, SIGMOID, DISTANCES = "logits", "probabilities", "percent", "sigmoid", "distances"
#: What users can say about their scores.
SCORE_TYPES = (LOGITS, PROBABILITIES, PERCENT, SIGMOID, DISTANCES)
TITLES = {
    PROBABILITIES: "probabilities",
    PERCENT: "percentages",
    SIGMOID: "sigmoid outputs",
    DISTANCES: "distances",
}
#: These replace small values by the floor.
WITH_FLOOR = (PROBABILITIES, PERCENT, SIGMOID)
#: The largest score of each type.  Rounding can lead slightly beyond 1 and 100.
HIGHEST = {PROBABILITIES: 1.0 + 1e-3, PERCENT: 100.5, SIGMOID: 1.0 + 1e-3, DISTANCES: np.inf}
#: Scores have a type if at least this share of the rows looks like it.
MOST = 0.99
#: Percentages of at least this share of the shortlists fall steeply, or add up to 100.
MANY = 0.9
#: Probabilities that were rounded to two digits may add up to this much more than 1.
ROUNDING = 0.05
#: Probabilities of all classes usually add up to at least this much, even if small ones were rounded to 0.
LEAST_SUM = 0.5
#: Percentages of all classes add up to 100, apart from rounding.
WHOLE_PERCENT = (95.0, 105.0)
#: On a shortlist they add up to less, but rarely to less than this.
LEAST_PERCENT = 50.0
#: Detection looks at no more rows than this, evenly spaced.
MOST_ROWS = 4096
#: Digits of probabilities that are restored from their logarithm.
DIGITS = 12
#: The floor of probabilities that are all 0 or 1, which have no smallest value in between.
DEFAULT_FLOOR = 1e-6


@dataclass(frozen=True)
class ScoreScale:
    """How scores are converted to a log scale.

    Attributes
    ----------
    kind : {"logits", "probabilities", "percent", "sigmoid", "distances"}
        Type of the scores.  Logits and log-probabilities are used as they are.  Probabilities and
        percentages are replaced by their logarithm, sigmoid outputs p by log(p/(1−p)), and distances
        or losses (lower is better) by their negative.
    floor : float
        Smallest probability.  Anything below it counts as the floor, so classes with probability 0
        stay candidates.  It is half of the smallest positive probability of the calibration rows.

    Examples
    --------
    >>> from repair.data.score_scale import ScoreScale
    >>> scale = ScoreScale.of(np.array([[0.8, 0.2, 0.0], [0.5, 0.3, 0.2]]), None)
    >>> scale
    ScoreScale(kind='probabilities', floor=0.1)
    >>> np.exp(scale.apply(np.array([[0.9, 0.1, 0.0]]))).round(3).tolist()
    [[0.9, 0.1, 0.1]]
    """

    kind: str = LOGITS
    floor: float = 0.0

    @classmethod
    def of(cls, scores: AnyArray | Shortlist, score_type: str | None) -> ScoreScale:
        """Return the scale of calibration scores, which is detected if `score_type` is None."""
        check_choice(score_type, "score_type", (None, *SCORE_TYPES))
        if isinstance(scores, Shortlist) and scores.converted:
            return AS_THEY_ARE
        kind = _detected(scores) if score_type is None else score_type
        if kind == LOGITS:
            return AS_THEY_ARE
        values, real = _values(scores)
        scale = cls(kind)
        if score_type is None and scale._outside(values, real).any():
            return AS_THEY_ARE  # some of the rows that detection did not look at are of another type
        scale._check_range(values, real)
        return scale if kind == DISTANCES else cls(kind, _floor(kind, values[real]))

    @property
    def converts(self) -> bool:
        """Whether scores are changed at all."""
        return self.kind != LOGITS

    def checked(self, score_type: str | None) -> ScoreScale:
        """Return the scale for new scores whose type was said, or raise an error if it is another type."""
        if score_type in (None, self.kind):
            return self
        if score_type == LOGITS:
            return AS_THEY_ARE
        then = TITLES.get(self.kind, "logits or log-probabilities")
        raise InputError(
            f"score_type is {score_type!r}, but the model was fitted on {then}; pass such scores, "
            "or fit the model again on scores of this type"
        )

    def apply(self, scores: AnyArray | Shortlist) -> Any:
        """Return scores on a log scale.  Shortlists that were converted before are returned unchanged.

        Parameters
        ----------
        scores : ndarray (n, K) or (K,), or Shortlist
            Scores of the type `kind`.  Scores that cannot be of this type raise an error.

        Returns
        -------
        ndarray or Shortlist
        """
        if not self.converts:
            return scores
        if isinstance(scores, Shortlist):
            if scores.converted:
                return scores
            self._check_range(scores.scores, scores.mask)
            values = self._converted(scores.scores, scores.mask)
            again = Shortlist.from_candidates(scores.ids, values, scores.n_classes)
            return again.with_embeddings(scores.embeddings).as_converted()
        values, real = _values(scores)
        self._check_range(values, real)
        if self.kind == PERCENT and values.max(where=real, initial=0.0) <= 1.0:
            warn_user(
                "no score is above 1, although the model was fitted on percentages; multiply probabilities by 100",
                InputWarning,
            )
        return self._converted(values, real)

    def undo(self, converted: FloatArray) -> FloatArray:
        """Return scores of the type `kind`, with values at the floor for those that were below it."""
        if self.kind == DISTANCES:
            return -converted
        if self.kind == SIGMOID:
            result: FloatArray = 1.0 / (1.0 + np.exp(-converted))
            return result
        if not self.converts:
            return converted
        restored: FloatArray = (100.0 if self.kind == PERCENT else 1.0) * np.exp(converted)
        return restored.round(DIGITS)  # 6.86 again, and not 6.860000000000001

    def _converted(self, values: FloatArray, real: BoolArray) -> FloatArray:
        numbers = np.where(real, values, 1.0)
        if self.kind == DISTANCES:
            converted = -numbers
        else:
            numbers = np.maximum(numbers / (100.0 if self.kind == PERCENT else 1.0), self.floor)
            if self.kind == SIGMOID:
                numbers = np.minimum(numbers, 1.0 - self.floor)
                converted = np.log(numbers) - np.log1p(-numbers)
            else:
                converted = np.log(numbers)
        result: FloatArray = np.where(real, converted, -np.inf)
        return result

    def _check_range(self, values: FloatArray, real: BoolArray) -> None:
        """Raise an error for the first score that cannot be of this type.  NaN is refused later."""
        bad = self._outside(values, real)
        if not bad.any():
            return
        place = np.unravel_index(int(np.argmax(bad)), bad.shape)
        value = float(values[place])
        where = "scores[" + ", ".join(str(int(index)) for index in place) + "]"
        raise InputError(
            f"{where} is {value:g}, but the scores must be {TITLES[self.kind]}, as in the fit "
            f"({'0 or more' if self.kind == DISTANCES else f'from 0 to {HIGHEST[self.kind]:.0f}'}); "
            f"{_remedy(self.kind, values[real])}"
        )

    def _outside(self, values: FloatArray, real: BoolArray) -> BoolArray:
        outside: BoolArray = real & ((values < 0.0) | (values > HIGHEST[self.kind]))
        return outside


#: The scale of logits and log-probabilities.
AS_THEY_ARE = ScoreScale()


def between_0_and_1(scores: AnyArray | Shortlist) -> bool:
    """Return whether all scores lie between 0 and 1, although their rows do not add up to 1.

    So do the outputs of sigmoids, cosine similarities and shares of votes.

    Examples
    --------
    >>> from repair.data.score_scale import between_0_and_1
    >>> between_0_and_1(np.array([[0.9, 0.8, 0.1], [0.7, 0.2, 0.6]]))
    True
    """
    values, real = _values(scores)
    numbers = values[real]
    return bool(len(numbers) and numbers.min() >= 0.0 and numbers.max() <= HIGHEST[SIGMOID])


def _values(scores: AnyArray | Shortlist) -> tuple[FloatArray, BoolArray]:
    """Return the scores as float64, and which of them belong to candidates."""
    if isinstance(scores, Shortlist):
        return scores.scores, scores.mask
    values = numeric_array(scores, "scores", scores.ndim).astype(np.float64, copy=False)
    return values, ~np.isneginf(values)


def _floor(kind: str, values: FloatArray) -> float:
    """Return half of the smallest positive probability."""
    numbers = values / 100.0 if kind == PERCENT else values
    if kind == SIGMOID:
        numbers = np.concatenate([numbers, 1.0 - numbers])
    smallest = float(numbers.min(where=numbers > 0.0, initial=1.0))
    return DEFAULT_FLOOR if smallest >= 1.0 else smallest / 2.0


def _detected(scores: AnyArray | Shortlist) -> str:
    """Return what the scores of nearly all rows look like.  Up to `MOST_ROWS` rows are looked at."""
    step, is_list = -(-len(scores) // MOST_ROWS) or 1, isinstance(scores, Shortlist)
    if isinstance(scores, Shortlist):
        values, real = _values(scores if step == 1 else scores.take(slice(None, None, step)))
    elif scores.ndim == 2 and scores.dtype.kind in "fiub":
        values, real = _values(scores[::step])
    else:
        return LOGITS  # one row, or an error that is raised later
    if not real.any():
        return LOGITS
    lowest, highest = float(values.min(where=real, initial=np.inf)), float(values.max(where=real, initial=-np.inf))
    if not lowest >= 0.0 or not highest <= HIGHEST[PERCENT]:  # also if there is a NaN
        return LOGITS
    sums = values.sum(axis=1, where=real)
    if highest <= HIGHEST[PROBABILITIES]:
        enough = is_list or float(np.median(sums)) >= LEAST_SUM
        return PROBABILITIES if enough and float((sums <= 1.0 + ROUNDING).mean()) >= MOST else LOGITS
    whole = (sums >= WHOLE_PERCENT[0]) & (sums <= WHOLE_PERCENT[1])
    if not is_list:
        return PERCENT if float(whole.mean()) >= MOST else LOGITS
    # Positive logits can add up to 100 too, but do not fall so steeply.
    best, least = values.max(axis=1, where=real, initial=0.0), values.min(axis=1, where=real, initial=np.inf)
    possible = (sums >= LEAST_PERCENT) & (sums <= WHOLE_PERCENT[1])
    steep = whole | (least <= best / 4.0)
    return PERCENT if float(possible.mean()) >= MOST and float(steep.mean()) >= MANY else LOGITS


def _remedy(kind: str, values: FloatArray) -> str:
    if kind in (PROBABILITIES, SIGMOID) and values.min() >= 0.0 and values.max() <= HIGHEST[PERCENT]:
        return "divide percentages by 100"
    if kind == DISTANCES:
        return "pass distances or losses, which are lower for better classes"
    return f"pass {TITLES[kind]}, for example np.exp of log-probabilities, or fit the model on such scores"
