"""The functions behind the checks.  Each returns whether the check passed, and a sentence with the numbers."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.data.calibration_set import CalibrationSet
from repair.data.duplicates import distinctive, exact_duplicates, in_both
from repair.data.duplicates import near_duplicates as has_near_duplicate
from repair.data.score_scale import TITLES
from repair.data.shortlist import Shortlist
from repair.data.suspicious_inputs import (
    LOW_COVERAGE,
    describe_unknown,
    first_but_never_right,
    look_like_probabilities,
    masked_row,
)
from repair.stats.folds import FEWEST_GROUPS, FEWEST_ROWS
from repair.stats.row_weights import describe_weights, effective_number

__all__ = [
    "CheckInputs",
    "Finding",
    "ceiling",
    "concentration",
    "count_order",
    "direction",
    "duplicates",
    "few_per_class",
    "label_order",
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

#: (passed, explanation), with None if the check is not applicable.
Finding: TypeAlias = tuple[bool | None, str]

#: Below this coverage, reranking cannot help more than a tenth of the rows.
GOOD_COVERAGE = 0.9
#: With fewer rows (or groups) than this, the offset of a class is mostly the mean of its group.
FEW_PER_CLASS = 5
#: A shift that exceeds chance by less than the first number changes few decisions.  The other two are the level and the
#: number of draws of the test.
SMALL_SHIFT, SHIFT_LEVEL, SHIFT_DRAWS = 0.05, 0.01, 199
#: From this share of duplicate rows on, the check fails, because folds are no longer independent.
MANY_DUPLICATES = 0.01
#: A group with a larger share of the rows than this dominates the results.
LARGE_GROUP = 0.2


@dataclass(frozen=True, eq=False)
class CheckInputs:
    """The inputs of the checks: validated calibration rows, the shortlists of test rows if given, and a seed."""

    calibration: CalibrationSet
    test: Shortlist | None = None
    random_state: int = 0


def ceiling(inputs: CheckInputs) -> Finding:
    """Check the coverage with k candidates.  It is also reported for 2k if all scores are known."""
    calibration = inputs.calibration
    k, share = calibration.shortlist.n_candidates, float(calibration.covered.mean())
    # The extended mode may rank more classes than k, so this does not limit every model.
    text = f"No reranking of the candidates can exceed their coverage, which is {100 * share:.1f} % with {k} candidates"
    if inputs.calibration.all_scores is None:
        return (
            share >= GOOD_COVERAGE,
            f"{text} (unknown with more, because only shortlists were given).{_plainly(inputs)}",
        )
    wider = min(2 * k, calibration.table.n_classes)
    more = Shortlist.from_scores(inputs.calibration.all_scores, wider).positions_of(calibration.labels) >= 0
    return share >= GOOD_COVERAGE, f"{text} and {100 * more.mean():.1f} % with {wider}.{_plainly(inputs)}"


def _plainly(inputs: CheckInputs) -> str:
    """Return a sentence that tells a plain share of rows from the weighted ones elsewhere, or '' without weights."""
    calibration = inputs.calibration
    return " Here every row counts once." if describe_weights(calibration.importance, calibration.groups) else ""


def low_coverage(inputs: CheckInputs) -> Finding:
    """Check that the coverage is not so low that labels and columns are probably in different orders."""
    share = float(inputs.calibration.covered.mean())
    return (
        share >= LOW_COVERAGE,
        f"{100 * share:.1f} % of the rows have their label on the shortlist.{_plainly(inputs)}",
    )


def without_rows(inputs: CheckInputs) -> Finding:
    """Check that every class has a calibration row."""
    table = inputs.calibration.table
    empty = np.flatnonzero(inputs.calibration.label_counts() == 0)
    if len(empty) == 0:
        return True, f"Each of the {table.n_classes} classes has a calibration row."
    shown = ", ".join(table.name_of(int(class_id)) for class_id in empty[:5])
    more = ", …" if len(empty) > 5 else ""
    return False, f"{len(empty)} of {table.n_classes} classes have no calibration row ({shown}{more})."


def few_per_class(inputs: CheckInputs) -> Finding:
    """Check that at most half of the classes that occur have few rows or groups."""
    calibration = inputs.calibration
    labelled, unit = calibration.labels >= 0, "rows"
    labels = calibration.labels[labelled]
    if calibration.groups is not None:
        # Rows of one group may be copies, so count the groups in which a class occurs.
        labels, unit = np.unique(np.column_stack([labels, calibration.groups[labelled]]), axis=0)[:, 0], "groups"
    counts = np.unique(labels, return_counts=True)[1]
    few = int((counts < FEW_PER_CLASS).sum())
    text = f"{few} of the {len(counts)} classes that occur have fewer than {FEW_PER_CLASS} {unit}"
    return 2 * few <= len(counts), f"{text} (median {np.median(counts):g})."


def shift(inputs: CheckInputs) -> Finding:
    """Check the total variation between the class shares of training and calibration against a simulated null."""
    calibration, counts = inputs.calibration, inputs.calibration.table.class_counts
    if counts is None:
        return None, "class_counts was not given, so the training shares are unknown."
    labelled = calibration.labels >= 0
    mass = np.bincount(calibration.labels[labelled], calibration.importance[labelled], minlength=len(counts))
    shares = mass / mass.sum()
    groups = None if calibration.groups is None else calibration.groups[labelled]
    n_units = max(1, round(effective_number(calibration.importance[labelled], groups)))
    distance = _variation(shares, counts / counts.sum())
    chance = _chance_variation(shares, counts, n_units, inputs.random_state)
    p_value = (1 + int((chance >= distance).sum())) / (SHIFT_DRAWS + 1)
    text = f"{100 * distance:.1f} % of the rows would have to change class to match the training shares"
    expected = f"{100 * chance.mean():.1f} % are expected by chance, p = {p_value:.2g}"
    return p_value > SHIFT_LEVEL or distance - chance.mean() < SMALL_SHIFT, f"{text} ({expected})."


def _variation(left: FloatArray, right: FloatArray) -> float:
    """Return the total-variation distance between two vectors of shares."""
    return float(0.5 * np.abs(left - right).sum())


def _chance_variation(shares: FloatArray, counts: FloatArray, n_units: int, random_state: int) -> FloatArray:
    """Return simulated distances between two samples of these sizes if both come from the pooled shares."""
    rng, n_train = np.random.default_rng(random_state), max(1, round(float(counts.sum())))
    pooled = counts + n_units * shares
    pooled = pooled / pooled.sum()
    return np.array(
        [
            _variation(rng.multinomial(n_units, pooled) / n_units, rng.multinomial(n_train, pooled) / n_train)
            for _ in range(SHIFT_DRAWS)
        ]
    )


def probabilities(inputs: CheckInputs) -> Finding:
    """Check that the scores are not probabilities, unless their logarithm is used."""
    scale = inputs.calibration.scale
    if scale.converts:
        return True, f"The scores are {TITLES[scale.kind]}, and are converted to a log scale."
    if look_like_probabilities(inputs.calibration.shortlist):
        return False, "All scores lie between 0 and 1, and no row sums to more than 1, so they look like probabilities."
    return True, "The scores do not look like probabilities."


def never_right(inputs: CheckInputs) -> Finding:
    """Check that no class is first on most rows but never the label, as a column without scores would be."""
    wrong = first_but_never_right(inputs.calibration.shortlist, inputs.calibration.labels)
    if wrong is None:
        return True, "No class is first on most rows but never the label."
    name = inputs.calibration.table.name_of(wrong[0])
    return False, f"Class {name!r} is first on {100 * wrong[1]:.0f} % of the rows and is never the label."


def masks(inputs: CheckInputs) -> Finding:
    """Check that no candidate has a very low score that was meant as "not a candidate"."""
    masked = masked_row(inputs.calibration.shortlist)
    if masked is None:
        return True, "No score looks like a mask."
    return (
        False,
        f"Row {masked[0]} has a candidate with score {masked[1]:g}, which is so low that it looks like a mask.",
    )


def _exact(inputs: CheckInputs) -> AnyArray:
    rows = inputs.calibration
    return exact_duplicates(rows.shortlist, rows.labels, rows.groups, rows.all_scores)


def duplicates(inputs: CheckInputs) -> Finding:
    """Check that few rows have the same scores and label as another row, beyond what chance gives."""
    return _few_copies(_exact(inputs), inputs, "the same scores and label as")


def near_duplicates(inputs: CheckInputs) -> Finding:
    """Check that few rows have nearly the same scores as another row, without counting exact copies."""
    near = has_near_duplicate(inputs.calibration.shortlist, inputs.calibration.groups) & ~_exact(inputs)
    return _few_copies(near, inputs, "the same candidates in the same order, with scores equal up to 1e-6, as")


def _few_copies(copies: AnyArray, inputs: CheckInputs, what: str) -> Finding:
    other = "another row" if inputs.calibration.groups is None else "a row of another group"
    told = copies & distinctive(inputs.calibration.shortlist) if copies.any() else copies
    share, by_chance = float(told.mean()), int((copies & ~told).sum())
    text = f"{int(told.sum())} rows ({100 * share:.1f} %) have {what} {other}."
    if by_chance:
        text += f" So do {by_chance} rows with scores that different inputs can have by chance, which do not count."
    return share < MANY_DUPLICATES, text


def leakage(inputs: CheckInputs) -> Finding:
    """Check that no test row is a calibration row, by the scores only."""
    if inputs.test is None:
        return None, "No test set was given."
    ours, theirs = in_both(inputs.calibration.shortlist, inputs.test)
    share = 100 * theirs / len(inputs.test)
    return (
        theirs == 0,
        f"{theirs} test rows ({share:.1f} %) have the scores (up to 1e-6) of one of {ours} calibration rows.",
    )


def too_few(inputs: CheckInputs) -> Finding:
    """Check that there are enough rows and groups for held-out gains."""
    n_covered, groups = int(inputs.calibration.covered.sum()), inputs.calibration.groups
    enough, text = n_covered >= FEWEST_ROWS, f"{n_covered} covered rows ({FEWEST_ROWS} are needed)"
    if groups is not None:
        n_groups = int(groups.max()) + 1
        enough = enough and n_groups >= FEWEST_GROUPS
        text += f" in {n_groups} groups ({FEWEST_GROUPS} are needed)"
    return enough, f"There are {text}."


def concentration(inputs: CheckInputs) -> Finding:
    """Check that no group has a large share of the rows."""
    groups = inputs.calibration.groups
    if groups is None:
        return None, "No groups were given."
    share = float(np.bincount(groups).max() / len(groups))
    return share <= LARGE_GROUP, f"The largest of {int(groups.max()) + 1} groups has {100 * share:.1f} % of the rows."


def unknown(inputs: CheckInputs) -> Finding:
    """Check that every label name is a known class."""
    if inputs.calibration.unknown_labels:
        text = describe_unknown(inputs.calibration.unknown_labels)
        return False, f"{text}."
    return True, "Every label name is a known class."


def label_order(inputs: CheckInputs) -> Finding:
    """Check that the labels do not fit the scores far better in another order of the classes."""
    problem = inputs.calibration.order_problems()[0]
    return _found(problem, "No other order of the classes fits labels and scores far better.")


def direction(inputs: CheckInputs) -> Finding:
    """Check that the class with the lowest score is not right more often than the one with the highest."""
    return _found(inputs.calibration.order_problems()[1], "Higher scores are better.")


def count_order(inputs: CheckInputs) -> Finding:
    """Check that the class counts do not fit the labels far better in another order."""
    if inputs.calibration.table.class_counts is None:
        return None, "class_counts was not given."
    return _found(inputs.calibration.order_problems()[2], "No other order of the class counts fits far better.")


def _found(problem: str | None, otherwise: str) -> Finding:
    return problem is None, otherwise if problem is None else f"{problem[0].upper()}{problem[1:]}."
