"""Everything a report shows, gathered once into plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from repair.arrays import AnyArray, IntArray
from repair.calibration import CalibrationSet, describe_unknown
from repair.diagnosis.applicability import NotApplicable
from repair.diagnosis.checks import Check, CheckInputs, run_checks
from repair.diagnosis.diagnose import Diagnosis, diagnose_checked
from repair.errors import InputError, InputWarning, warn_user
from repair.estimator import ShortlistReranker
from repair.folds import subsample
from repair.inputs import check_count, check_group_codes, check_labels
from repair.named import align_columns
from repair.progress import progress_bar
from repair.report import of_classes, of_pairs, of_rows
from repair.report.evidence import Evidence, cross_fitted, on_test_rows
from repair.report.explorer import Examples, choose_rows, explain_rows
from repair.report.of_classes import ClassRows
from repair.report.picture import Picture, missing
from repair.report.words import Words, called, facts, footer, put_into_words
from repair.reranker import Reranker
from repair.score_set import ScoreSet
from repair.shortlist import Shortlist

__all__ = ["Content", "gather"]

#: What a set may hold for models that look at embeddings.
VECTORS = ("embeddings", "reference_embeddings", "reference_labels")
#: Of more calibration rows than this a sample is drawn for the advice, which takes hundreds of fits.
MOST_CHOSEN_ON = 10_000
STEPS = 5
TITLES = {
    "by_frequency": "Accuracy before and after, by class frequency",
    "frontier": "The head–tail frontier",
    "coverage": "Coverage by k",
    "reliability": "Reliability",
}


@dataclass(frozen=True)
class Content:
    """A report without its looks.

    Attributes
    ----------
    title : str
    words : Words
        The verdict.
    pictures : tuple of Picture
        In the order in which they are shown.
    classes : ClassRows
    checks : tuple of Check
        Failed ones first.
    facts : tuple of (str, str)
        What was fitted.
    examples : Examples or None
        Single rows, only where they were asked for.
    footer : tuple of str
        What row-level content there is, and what the file is for.
    """

    title: str
    words: Words
    pictures: tuple[Picture, ...]
    classes: ClassRows
    checks: tuple[Check, ...]
    facts: tuple[tuple[str, str], ...]
    examples: Examples | None
    footer: tuple[str, str]


def gather(
    model: ShortlistReranker,
    calibration: ScoreSet,
    test: ScoreSet | None = None,
    *,
    rows: int = 0,
    row_ids: Sequence[Any] | None = None,
    row_texts: Sequence[Any] | None = None,
    dial: float | None = None,
    title: str | None = None,
    class_titles: Mapping[str, str] | None = None,
    diagnosis: Diagnosis | None = None,
    draws: int = 200,
    seed: int = 0,
    progress: bool = False,
) -> Content:
    """Compute what a report shows; see `repair.report.write_report` for the arguments."""
    count = check_count(rows, "rows", low=0)
    if not isinstance(model, ShortlistReranker):
        raise InputError(f"model is {type(model).__name__}; pass a fitted reranker, after the path")
    for name, given in (("calibration", calibration), ("test", test)):
        if not isinstance(given, ScoreSet) and (given is not None or name == "calibration"):
            raise InputError(f"{name} is {type(given).__name__}; pass a ScoreSet, such as ScoreSet(scores, labels)")
    checked = _checked(model, calibration)
    given_test = None if test is None else model._shortlist(test.scores, test.embeddings)
    judged = calibration if test is None else test
    _check_lengths(judged, row_ids=row_ids, row_texts=row_texts)
    dense, dense_judged = _dense(model, calibration), _dense(model, judged)
    of_test = None if test is None else _labels(model, test)
    # From here on classes are ids, and may be called as one likes.
    model = _titled(model, class_titles)
    checked = replace(checked, table=model._fitted().correction.table)
    inputs = CheckInputs(checked, dense, given_test, seed)
    if given_test is None or of_test is None:
        method = _with_choice(model, checked)
        evidence = cross_fitted(method, checked, dial, seed=seed, progress=progress)
    else:
        method, evidence = model, on_test_rows(model, given_test, *of_test, dial)
    found, note = _diagnosed(method, inputs, diagnosis, draws, progress)
    notes = (*_other_rows(model, checked), *note)
    examples = None
    if count and isinstance(evidence, Evidence):
        examples = explain_rows(evidence, choose_rows(evidence, count, seed), row_ids, row_texts)
    return Content(
        title or f"REPAIR report: {called(model).lower()}",
        put_into_words(model, evidence, found, notes),
        _pictures(model, evidence, found, checked, _deep(dense_judged, evidence)),
        of_classes.class_rows(model, evidence if isinstance(evidence, Evidence) else None),
        tuple(sorted(found.checks, key=_urgency)),
        facts(model, found),
        examples,
        footer(0 if examples is None else len(examples.rows), evidence, with_texts=row_texts is not None),
    )


def _checked(model: ShortlistReranker, calibration: ScoreSet) -> CalibrationSet:
    """Return the rows with what the model knows about the classes."""
    state = model._fitted()
    table = state.correction.table
    scores: Any = model._shortlist(calibration.scores, calibration.embeddings)
    vectors = {}
    if model.uses_all_scores:  # copies of it take shortlists of their own
        dense = _dense(model, calibration)
        scores = scores if dense is None else dense
        vectors = {name: value for name, value in calibration.known.items() if name in VECTORS}
    built = CalibrationSet.build(
        scores,
        calibration.labels,
        state.n_candidates,
        groups=calibration.groups,
        sample_weight=calibration.sample_weight,
        class_names=table.class_names,
        group_weights=model.group_weights,
        **vectors,
    )
    return replace(built, table=table)


def _with_choice(model: ShortlistReranker, calibration: CalibrationSet) -> ShortlistReranker:
    """Return a model of mode auto, fitted anew: a file does not hold what it looked at, nor what its folds chose."""
    if not isinstance(model, Reranker) or model.mode != "auto" or model.auto_ is not None:
        return model
    return model.clone(progress=False).fit_checked(calibration)


def _labels(model: ShortlistReranker, test: ScoreSet) -> tuple[IntArray, IntArray | None]:
    table = model._fitted().correction.table
    labels, unknown = check_labels(test.labels, len(test), table.n_classes, table.class_names)
    if unknown:
        warn_user(describe_unknown(unknown), InputWarning)
    return labels, None if test.groups is None else check_group_codes(test.groups, "groups", len(test))


def _check_lengths(judged: ScoreSet, **given: Sequence[Any] | None) -> None:
    for name, values in given.items():
        if values is not None and len(values) != len(judged):
            raise InputError(f"{name} has {len(values)} entries, but there are {len(judged)} rows to choose from")


def _dense(model: ShortlistReranker, rows: ScoreSet) -> AnyArray | None:
    """Return all scores in class order, if they were given."""
    if isinstance(rows.scores, Shortlist):
        return None
    return np.atleast_2d(np.asarray(align_columns(rows.scores, model._fitted().correction.table.class_names)))


def _titled(model: ShortlistReranker, titles: Mapping[str, str] | None) -> ShortlistReranker:
    """Return the model with other names for its classes; those without a title keep theirs."""
    if not titles:
        return model
    state, other = model._fitted(), copy(model)
    table = state.correction.table
    names = tuple(titles.get(table.name_of(one), table.name_of(one)) for one in range(table.n_classes))
    other._state = replace(state, correction=replace(state.correction, table=replace(table, class_names=names)))
    return other


def _deep(dense: AnyArray | None, evidence: Evidence | NotApplicable) -> Shortlist | None:
    """Return longer shortlists of the same rows, where all scores are known."""
    if dense is None or isinstance(evidence, NotApplicable):
        return None
    depth = min(of_rows.DEEPER * evidence.shortlist.n_candidates, evidence.shortlist.n_classes)
    return Shortlist.from_scores(dense, depth)


def _diagnosed(
    model: ShortlistReranker, inputs: CheckInputs, given: Diagnosis | None, draws: int, progress: bool
) -> tuple[Diagnosis, tuple[str, ...]]:
    """Diagnose the calibration rows; of very many, ``auto`` sees a sample, and a note says so."""
    calibration, seed = inputs.calibration, inputs.seed
    n_rows = len(calibration.labels)
    if given is not None:
        if given.n_rows != n_rows:
            raise InputError(
                f"diagnosis is of {given.n_rows} rows, but calibration has {n_rows}; pass that of these rows"
            )
        return replace(given, checks=run_checks(inputs)), ()
    auto = model.auto_ if isinstance(model, Reranker) and model.terms is None else None
    if auto is not None and (auto.folds is None or len(auto.folds) != n_rows):
        auto = None
    sample: CalibrationSet | None = None
    note: tuple[str, ...] = ()
    if auto is None and n_rows > MOST_CHOSEN_ON:
        sample = calibration.take(subsample(n_rows, calibration.groups, MOST_CHOSEN_ON / n_rows, seed))
        auto = Reranker(sample.shortlist.n_candidates, "auto", seed=seed).fit_checked(sample).auto_
        drawn = f"{len(sample.labels):,} of {n_rows:,} calibration rows were drawn at random"
        note = (f"For the advice below, {drawn}; all other numbers use all rows.",)
    with progress_bar("diagnosing", STEPS, show=progress) as step:
        return diagnose_checked(inputs, draws, step, auto, sample), note


def _other_rows(model: ShortlistReranker, calibration: CalibrationSet) -> tuple[str, ...]:
    """Say so if the model was fitted on other rows than these."""
    fitted = model._fitted().label_counts
    if model.account_.n_rows == len(calibration.labels) and np.array_equal(fitted, calibration.label_counts()):
        return ()
    return (
        f"The calibration rows given ({len(calibration.labels):,}) are not those that the model was fitted on "
        f"({model.account_.n_rows:,}).",
    )


def _pictures(
    model: ShortlistReranker,
    evidence: Evidence | NotApplicable,
    diagnosis: Diagnosis,
    calibration: CalibrationSet,
    deep: Shortlist | None,
) -> tuple[Picture, ...]:
    if isinstance(evidence, NotApplicable):
        of_evidence = {key: missing(key, title, evidence.reason) for key, title in TITLES.items()}
    else:
        of_evidence = {
            "by_frequency": of_rows.by_frequency(evidence),
            "frontier": of_rows.frontier(model, evidence),
            "coverage": of_rows.coverage(evidence, deep),
            "reliability": of_rows.reliability(evidence),
        }
    return (
        of_classes.long_tail(model),
        of_evidence["by_frequency"],
        of_evidence["frontier"],
        of_classes.offsets(model),
        of_pairs.gap_closed(diagnosis, calibration),
        of_pairs.quintiles(diagnosis, calibration),
        of_pairs.pairs(diagnosis, calibration),
        of_evidence["coverage"],
        of_evidence["reliability"],
    )


def _urgency(check: Check) -> tuple[int, int, str]:
    outcomes, severities = ("failed", "passed", "not applicable"), ("error", "warning", "info")
    return outcomes.index(check.outcome), severities.index(check.severity), check.code
