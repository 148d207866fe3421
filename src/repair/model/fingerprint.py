"""The fingerprint of the calibration rows, by which a model recognises scores that it was not made for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from repair._utils.arrays import PAD_ID, PAD_SCORE, AnyArray, FloatArray, IntArray
from repair.data.calibration_set import CalibrationSet
from repair.data.shortlist import Shortlist
from repair.errors import InputWarning, warn_user
from repair.model.score_types import ScoreTypes, single_rows_problem

__all__ = ["Distribution", "Fingerprint", "counts_of", "gaps_and_spans", "row_hashes", "sampled_rows"]

#: Largest number of calibration rows that the fingerprint describes, and of rows of a batch that are compared with it.
MOST_ROWS, MOST_COMPARED = 4096, 2048
#: Number of quantiles that are kept of the gaps and of the spans.
N_QUANTILES = 101
#: Below this number of rows, only clear cases of a wrong type of score are reported.
FEW_ROWS = 20
#: Gaps and spans that differ by less than this factor can be those of harder or easier rows.
SCALE_FACTOR = 4.0
#: Standard errors on each side of a median, so chance does not raise an alarm.
STANDARD_ERRORS = 4.0
#: Share of the rows that must be calibration rows before a warning calls them the same rows.
MANY_SHARED = 0.5


@dataclass(frozen=True, eq=False)
class Distribution:
    """A distribution, summarised by quantiles.

    Attributes
    ----------
    edges : ndarray (q,)
        Increasing quantiles, from the smallest to the largest value.
    shares : ndarray (q,)
        Share of the values that are at most as large as each edge.
    n_values : int
        Number of values.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.model.fingerprint import Distribution
    >>> low, high = Distribution.of(np.arange(1000.0)).median_interval()
    >>> low < 500.0 < high
    True
    """

    edges: FloatArray
    shares: FloatArray
    n_values: int

    @classmethod
    def of(cls, values: FloatArray) -> Distribution:
        """Summarise values."""
        if not len(values):
            return cls(np.zeros(0), np.zeros(0), 0)
        ordered = np.sort(values)
        at = np.linspace(0, len(values) - 1, min(N_QUANTILES, len(values))).round().astype(np.int64)
        edges = np.unique(ordered[at])
        return cls(edges, np.searchsorted(ordered, edges, side="right") / len(values), len(values))

    def quantile(self, share: float) -> float:
        """Return the smallest edge that at least this share of the values do not exceed."""
        at = np.searchsorted(self.shares, share)
        return float(self.edges[min(int(at), len(self.edges) - 1)])

    def median_interval(self) -> tuple[float, float]:
        """Return an interval that contains the true median, whatever the distribution, nearly always."""
        margin = STANDARD_ERRORS * 0.5 / np.sqrt(self.n_values)
        return self.quantile(0.5 - margin), self.quantile(0.5 + margin)

    def scale_change(self, other: Distribution) -> int:
        """Return 1 if values are clearly larger than those of `other`, by `SCALE_FACTOR`, −1 if smaller, else 0."""
        (low, high), (other_low, other_high) = self.median_interval(), other.median_interval()
        if other_high > 0.0 and low > SCALE_FACTOR * other_high:
            return 1
        return -1 if SCALE_FACTOR * high < other_low else 0


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """What a model keeps about the scores of its calibration rows.  It contains no rows.

    Attributes
    ----------
    width : int
        Width of the shortlists.
    types : ScoreTypes
        How many rows look like each type of score.
    gaps, spans : Distribution
        Best score minus second and minus last score of each row.
    first_counts, listed_counts, label_counts : ndarray of int32 (K,)
        Number of rows on which each class is first, is on the shortlist, and is the label.
    row_hashes : ndarray of uint64
        Sorted 64-bit hashes of the rows.  A row cannot be recovered from its hash, but whoever has a
        row can check whether its hash is among them.
    share : float
        Share of the calibration rows that these numbers describe.  At most 4096 rows are used, and one
        row per group.
    grouped : bool
        Whether the calibration rows had groups.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Reranker
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 5, size=100)
    >>> scores = rng.normal(size=(100, 5)) + 2.0 * np.eye(5)[labels]
    >>> model = Reranker("classwise", n_candidates=3).fit(scores, labels)
    >>> model.fingerprint_.types.kind, len(model.fingerprint_.row_hashes)
    ('logits', 100)
    """

    width: int
    types: ScoreTypes
    gaps: Distribution
    spans: Distribution
    first_counts: IntArray
    listed_counts: IntArray
    label_counts: IntArray
    row_hashes: AnyArray
    share: float
    grouped: bool

    @classmethod
    def of(cls, calibration: CalibrationSet) -> Fingerprint:
        """Take the fingerprint of calibration rows."""
        rows = sampled_rows(len(calibration.labels), calibration.groups, MOST_ROWS)
        shortlist, labels = calibration.shortlist.take(rows), calibration.labels[rows]
        n_classes = shortlist.n_classes
        gaps, spans = gaps_and_spans(shortlist, shortlist.n_candidates)
        return cls(
            width=shortlist.n_candidates,
            types=ScoreTypes.of(shortlist),
            gaps=Distribution.of(gaps),
            spans=Distribution.of(spans),
            first_counts=counts_of(shortlist.ids[:, 0], n_classes),
            listed_counts=counts_of(shortlist.ids, n_classes),
            label_counts=counts_of(labels, n_classes),
            row_hashes=np.sort(row_hashes(shortlist, shortlist.n_candidates)),
            share=len(rows) / len(calibration.labels),
            grouped=calibration.groups is not None,
        )

    @property
    def n_rows(self) -> int:
        """Number of rows that the fingerprint describes."""
        return len(self.row_hashes)

    def with_classes(self, n_classes: int) -> Fingerprint:
        """Return the fingerprint for more classes, which the calibration rows did not have."""
        added = n_classes - len(self.first_counts)

        def padded(counts: IntArray) -> IntArray:
            return np.concatenate([counts, np.zeros(added, dtype=np.int32)])

        return replace(
            self,
            first_counts=padded(self.first_counts),
            listed_counts=padded(self.listed_counts),
            label_counts=padded(self.label_counts),
        )

    def problem(self, shortlist: Shortlist) -> str | None:
        """Return how the scores of new rows contradict those of the calibration rows, with a remedy, or None."""
        if len(shortlist) < FEW_ROWS:
            return single_rows_problem(shortlist.scores[:, : self.width], self.types)
        if len(shortlist) > MOST_COMPARED:
            shortlist = shortlist.take(sampled_rows(len(shortlist), None, MOST_COMPARED))
        types = ScoreTypes.of(_first(shortlist, self.width))
        return types.problem(self.types) or self._scale_problem(shortlist)

    def warn_of_other_scores(self, shortlist: Shortlist) -> None:
        """Warn if the scores are of another type or scale than those of the calibration rows."""
        problem = self.problem(shortlist)
        if problem is not None:
            warn_user(problem, InputWarning)

    def _scale_problem(self, shortlist: Shortlist) -> str | None:
        gaps, spans = (Distribution.of(values) for values in gaps_and_spans(shortlist, self.width))
        if min(gaps.n_values, self.gaps.n_values) < FEW_ROWS:
            return None
        pairs = [(gaps, self.gaps)] if self.gaps.quantile(0.5) > 0.0 else []  # with ties, gaps say nothing
        if shortlist.n_candidates >= self.width:  # shorter lists have smaller spans
            pairs.append((spans, self.spans))
        changes = {now.scale_change(then) for now, then in pairs}
        if changes not in ({1}, {-1}):
            return None
        now, then = pairs[0]
        what = "gap between the first and the second" if now is gaps else "span of the"
        return (
            f"the scores have another scale than in the fit: the median {what} candidates is "
            f"{now.quantile(0.5):.3g}, but {then.quantile(0.5):.3g} for the calibration rows; pass scores of the same "
            "classifier on the same scale, such as logits without another temperature"
        )

    def shared_rows(self, shortlist: Shortlist) -> float:
        """Estimate which share of new rows are calibration rows, beyond what equal scores give by chance.

        Trees and nearest neighbours give many rows the same scores.  How often that happens is measured
        between the calibration rows.
        """
        rows = sampled_rows(len(shortlist), None, 2 * MOST_ROWS)
        hashes = row_hashes(shortlist.take(rows), self.width)
        distinct, counts = np.unique(self.row_hashes, return_counts=True)
        matched = float(np.isin(hashes, distinct).mean())
        by_chance = float(counts[counts > 1].sum() / len(self.row_hashes))
        noise = 3.0 * np.sqrt(by_chance * (1.0 - by_chance) * (1.0 / len(rows) + 1.0 / self.n_rows))
        if by_chance == 1.0 or matched <= by_chance + noise:
            return 0.0
        return float(np.clip((matched - by_chance) / (1.0 - by_chance) / self.share, 0.0, 1.0))

    def shared_rows_problem(self, shortlist: Shortlist) -> str | None:
        """Return a warning if most of the new rows are calibration rows, or None."""
        share = self.shared_rows(shortlist) if len(shortlist) >= FEW_ROWS else 0.0
        if share < MANY_SHARED:
            return None
        return (
            f"about {100 * share:.0f} % of these rows are rows that the model was fitted on, so the figures are "
            "optimistic; measure on rows that were not used for the fit"
        )


def sampled_rows(n_rows: int, groups: IntArray | None, most: int) -> AnyArray:
    """Return at most `most` rows, evenly spaced, with only the first row of each group."""
    rows = np.arange(n_rows) if groups is None else np.sort(np.unique(groups, return_index=True)[1])
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).round().astype(np.int64)]


def gaps_and_spans(shortlist: Shortlist, width: int) -> tuple[FloatArray, FloatArray]:
    """Return best minus second and best minus last score, among `width` candidates, of rows with two or more."""
    several = shortlist.lengths > 1
    scores = shortlist.scores[several, :width]
    if not len(scores) or scores.shape[1] < 2:
        return np.zeros(0), np.zeros(0)
    last = np.minimum(shortlist.lengths[several], width) - 1
    return scores[:, 0] - scores[:, 1], scores[:, 0] - scores[np.arange(len(scores)), last]


def row_hashes(shortlist: Shortlist, width: int) -> AnyArray:
    """Return a 64-bit hash of the first `width` candidates of each row and of their scores.

    Scores are rounded to float32, so the same rows are recognised in either precision.  Narrower lists
    are padded, because a row's hash must not depend on the longest list of its file.
    """
    listed = _first(shortlist, width)
    padding = ((0, 0), (0, width - listed.n_candidates))
    ids = np.pad(listed.ids.astype("<i4"), padding, constant_values=PAD_ID)
    scores = np.pad(listed.scores.astype("<f4"), padding, constant_values=PAD_SCORE)
    digests = [
        blake2b(row.tobytes() + values.tobytes(), digest_size=8).digest()
        for row, values in zip(ids, scores, strict=True)
    ]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def counts_of(ids: IntArray, n_classes: int) -> IntArray:
    """Return how often each class occurs.  Padding and unknown labels, −1, are not counted."""
    counts: IntArray = np.bincount(ids[ids >= 0], minlength=n_classes).astype(np.int32)
    return counts


def _first(shortlist: Shortlist, width: int) -> Shortlist:
    if shortlist.n_candidates <= width:
        return shortlist
    return Shortlist(shortlist.ids[:, :width], shortlist.scores[:, :width], shortlist.n_classes)
