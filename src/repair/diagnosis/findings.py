"""What each check looks for: every function returns whether it is well, and the numbers in a sentence."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from repair.arrays import AnyArray, FloatArray
from repair.auto import FEWEST_GROUPS, FEWEST_ROWS
from repair.calibration import (
    LOW_COVERAGE,
    CalibrationSet,
    describe_unknown,
    effective_number,
    first_but_never_right,
    look_like_probabilities,
    masked_row,
)
from repair.diagnosis.duplicates import exact_twins, in_both, near_twins
from repair.shortlist import Shortlist

__all__ = [
    "CheckInputs",
    "Finding",
    "ceiling",
    "concentration",
    "duplicates",
    "few_per_class",
    "leakage",
    "low_coverage",
    "masks",
    "near_duplicates",
    "never_right",
    "probabilities",
    "shift",
    "too_few",
    "unknown",
    "without_rows",
]

#: (passed, explanation), with None where the check is not applicable.
Finding: TypeAlias = tuple[bool | None, str]

#: Below this coverage more than a tenth of the rows are beyond any reranking.
GOOD_COVERAGE = 0.9
#: A class with fewer rows (groups) than this has an offset that is mostly its group's mean.
FEW_PER_CLASS = 5
#: Shares that differ by less than this, beyond chance, change few decisions.
SMALL_SHIFT, SHIFT_LEVEL, SHIFT_DRAWS = 0.05, 0.01, 199
#: Share of rows with a twin from which on folds are no longer independent.
MANY_TWINS = 0.01
#: A group with a larger share of the rows decides results alone.
LARGE_GROUP = 0.2


@dataclass(frozen=True, eq=False)
class CheckInputs:
    """What the checks look at: checked rows, all scores if they are known, and test shortlists."""

    calibration: CalibrationSet
    dense: AnyArray | None = None
    test: Shortlist | None = None
    seed: int = 0


def ceiling(inputs: CheckInputs) -> Finding:
    """Coverage at k, and at 2k if all scores are known."""
    calibration = inputs.calibration
    k, share = calibration.shortlist.n_candidates, float(calibration.covered.mean())
    text = f"Accuracy cannot exceed the coverage, {100 * share:.1f} % with {k} candidates"
    if inputs.dense is None:
        return share >= GOOD_COVERAGE, f"{text} (with more it is unknown: only shortlists were given)."
    wider = min(2 * k, calibration.table.n_classes)
    more = Shortlist.from_scores(inputs.dense, wider).positions_of(calibration.labels) >= 0
    return share >= GOOD_COVERAGE, f"{text} and {100 * more.mean():.1f} % with {wider}."


def low_coverage(inputs: CheckInputs) -> Finding:
    """Coverage so low that something else is wrong."""
    share = float(inputs.calibration.covered.mean())
    return share >= LOW_COVERAGE, f"{100 * share:.1f} % of the rows have their label on the shortlist."


def without_rows(inputs: CheckInputs) -> Finding:
    """Classes that no row is labelled with."""
    table = inputs.calibration.table
    empty = np.flatnonzero(inputs.calibration.label_counts() == 0)
    if len(empty) == 0:
        return True, f"Each of the {table.n_classes} classes has a calibration row."
    shown = ", ".join(table.name_of(int(one)) for one in empty[:5])
    more = ", …" if len(empty) > 5 else ""
    return False, f"{len(empty)} of {table.n_classes} classes have no calibration row ({shown}{more})."


def few_per_class(inputs: CheckInputs) -> Finding:
    """Classes known from a handful of rows or groups."""
    calibration = inputs.calibration
    known, unit = calibration.labels >= 0, "rows"
    labels = calibration.labels[known]
    if calibration.groups is not None:
        # A class is known from as many groups as it occurs in, not from as many copies.
        labels, unit = np.unique(np.column_stack([labels, calibration.groups[known]]), axis=0)[:, 0], "groups"
    counts = np.unique(labels, return_counts=True)[1]
    few = int((counts < FEW_PER_CLASS).sum())
    text = f"{few} of the {len(counts)} classes that occur have fewer than {FEW_PER_CLASS} {unit}"
    return 2 * few <= len(counts), f"{text} (median {np.median(counts):g})."


def shift(inputs: CheckInputs) -> Finding:
    """Class shares of training and calibration, by total variation with a simulated null."""
    calibration, counts = inputs.calibration, inputs.calibration.table.class_counts
    if counts is None:
        return None, "class_counts was not given, so the training shares are unknown."
    known = calibration.labels >= 0
    mass = np.bincount(calibration.labels[known], calibration.importance[known], minlength=len(counts))
    shares = mass / mass.sum()
    groups = None if calibration.groups is None else calibration.groups[known]
    n_units = max(1, round(effective_number(calibration.importance[known], groups)))
    distance = _variation(shares, counts / counts.sum())
    chance = _chance_variation(shares, counts, n_units, inputs.seed)
    p_value = (1 + int((chance >= distance).sum())) / (SHIFT_DRAWS + 1)
    text = f"{100 * distance:.1f} % of the rows would have to change class to match the training shares"
    expected = f"chance alone brings {100 * chance.mean():.1f} %, p = {p_value:.2g}"
    return p_value > SHIFT_LEVEL or distance - chance.mean() < SMALL_SHIFT, f"{text} ({expected})."


def _variation(left: FloatArray, right: FloatArray) -> float:
    """Total-variation distance of two sets of shares."""
    return float(0.5 * np.abs(left - right).sum())


def _chance_variation(shares: FloatArray, counts: FloatArray, n_units: int, seed: int) -> FloatArray:
    """Return distances between two samples of these sizes if both came from the pooled shares."""
    rng, n_train = np.random.default_rng(seed), max(1, round(float(counts.sum())))
    pooled = counts + n_units * shares
    pooled = pooled / pooled.sum()
    return np.array(
        [
            _variation(rng.multinomial(n_units, pooled) / n_units, rng.multinomial(n_train, pooled) / n_train)
            for _ in range(SHIFT_DRAWS)
        ]
    )


def probabilities(inputs: CheckInputs) -> Finding:
    """Probabilities where logits are meant."""
    if look_like_probabilities(inputs.calibration.shortlist):
        return False, "All scores lie between 0 and 1, and no row's add up to more than 1: probabilities, not logits."
    return True, "The scores do not look like probabilities."


def never_right(inputs: CheckInputs) -> Finding:
    """Look for a class that is first on most rows and never the label: a column that holds no scores."""
    found = first_but_never_right(inputs.calibration)
    if found is None:
        return True, "No class is first on most rows without being right on any."
    name = inputs.calibration.table.name_of(found[0])
    return False, f"Class {name!r} is first on {100 * found[1]:.0f} % of the rows and the label of none."


def masks(inputs: CheckInputs) -> Finding:
    """Very low scores that mean 'not a candidate'."""
    found = masked_row(inputs.calibration.shortlist)
    if found is None:
        return True, "No score looks like a mask."
    return False, f"Row {found[0]} has a candidate with score {found[1]:g}, far below the others: a mask, not a score."


def _exact(inputs: CheckInputs) -> AnyArray:
    rows = inputs.calibration
    return exact_twins(rows.shortlist, rows.labels, rows.groups, inputs.dense)


def duplicates(inputs: CheckInputs) -> Finding:
    """Rows with the scores and the label of another."""
    return _twins(_exact(inputs), inputs, "the same scores and label as")


def near_duplicates(inputs: CheckInputs) -> Finding:
    """Rows with nearly the scores of another, exact copies left out."""
    near = near_twins(inputs.calibration.shortlist, inputs.calibration.groups) & ~_exact(inputs)
    return _twins(near, inputs, "the candidates, in order, and to 1e-6 the scores of")


def _twins(twins: AnyArray, inputs: CheckInputs, what: str) -> Finding:
    other = "another row" if inputs.calibration.groups is None else "a row of another group"
    share = float(twins.mean())
    return share < MANY_TWINS, f"{int(twins.sum())} rows ({100 * share:.1f} %) have {what} {other}."


def leakage(inputs: CheckInputs) -> Finding:
    """Test rows that are calibration rows; reads scores only."""
    if inputs.test is None:
        return None, "No test set was given."
    ours, theirs = in_both(inputs.calibration.shortlist, inputs.test)
    share = 100 * theirs / len(inputs.test)
    return theirs == 0, f"{theirs} test rows ({share:.1f} %) have the scores of one of {ours} calibration rows."


def too_few(inputs: CheckInputs) -> Finding:
    """Rows and groups enough for held-out gains."""
    n_covered, groups = int(inputs.calibration.covered.sum()), inputs.calibration.groups
    enough, text = n_covered >= FEWEST_ROWS, f"{n_covered} covered rows ({FEWEST_ROWS} are needed)"
    if groups is not None:
        n_groups = int(groups.max()) + 1
        enough = enough and n_groups >= FEWEST_GROUPS
        text += f" in {n_groups} groups ({FEWEST_GROUPS} are needed)"
    return enough, f"There are {text}."


def concentration(inputs: CheckInputs) -> Finding:
    """Share of the rows that the largest group holds."""
    groups = inputs.calibration.groups
    if groups is None:
        return None, "No groups were given."
    share = float(np.bincount(groups).max() / len(groups))
    return share <= LARGE_GROUP, f"The largest of {int(groups.max()) + 1} groups holds {100 * share:.1f} % of the rows."


def unknown(inputs: CheckInputs) -> Finding:
    """Label names that are no class."""
    if inputs.calibration.unknown_labels:
        text = describe_unknown(inputs.calibration.unknown_labels)
        return False, f"{text}."
    return True, "Every label name is one of the classes."
