"""The content of a report, computed once and kept as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from repair._utils.arrays import AnyArray, IntArray
from repair._utils.progress import progress_bar
from repair.data.calibration_set import CalibrationSet
from repair.data.score_set import CLASS_FIELDS, EMBEDDING_FIELDS, ScoreSet
from repair.data.shortlist import Shortlist
from repair.data.suspicious_inputs import label_ids
from repair.diagnosis.checks import Check, CheckInputs, run_checks
from repair.diagnosis.diagnose import Diagnosis, diagnose_checked
from repair.diagnosis.judging import judge_auto
from repair.errors import InputError
from repair.evaluation.cross_fitting import CrossFit, cross_fit
from repair.report import class_charts, pair_charts, row_charts
from repair.report.class_charts import ClassRows
from repair.report.evidence import Evidence, on_held_out_rows, on_test_rows
from repair.report.explorer import Examples, choose_rows, explain_rows
from repair.report.picture import Picture, missing
from repair.report.turned_down import TurnedDown, turned_down
from repair.report.words import Words, facts, footer, mode_title, summarize, verdict_on
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.reranker import Reranker
from repair.stats.folds import subsample
from repair.stats.not_applicable import NotApplicable
from repair.validation.checks import check_count, check_group_codes

__all__ = ["Content", "gather"]

#: With more calibration rows than this, the advice is computed on a sample, because it takes hundreds of fits.
MOST_CHOSEN_ON = 10_000
STEPS = 5


@dataclass(frozen=True)
class Content:
    """The content of a report, without its layout.

    Attributes
    ----------
    title : str
    words : Words
        The verdict.
    pictures : tuple of Picture
        The pictures, in the order in which they are shown.
    classes : ClassRows
    checks : tuple of Check
        The checks of the calibration rows, failed ones first.
    facts : tuple of (str, str)
        Names and values that describe the fitted model.
    examples : Examples or None
        Single rows, if they were requested.
    footer : tuple of str
        Which row-level data the file contains, and what the file is for.
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
    first_rows: Sequence[int] = (),
    row_ids: Sequence[Any] | None = None,
    row_texts: Sequence[Any] | None = None,
    dial: float | str | None = None,
    title: str | None = None,
    class_titles: Mapping[str, str] | None = None,
    diagnosis: Diagnosis | None = None,
    held_out: CrossFit | NotApplicable | None = None,
    draws: int = 200,
    random_state: int = 0,
    progress: bool = False,
) -> Content:
    """Compute the content of a report.  See `repair.report.write_report` for the arguments."""
    count = max(check_count(rows, "rows", low=0), len(first_rows))
    if not isinstance(model, ShortlistReranker):
        raise InputError(
            f"model is {type(model).__name__}; pass a fitted reranker as the second argument, after the path"
        )
    for name, given in (("calibration", calibration), ("test", test)):
        if not isinstance(given, ScoreSet) and (given is not None or name == "calibration"):
            raise InputError(f"{name} is {type(given).__name__}; pass a ScoreSet, such as ScoreSet(scores, labels)")
    checked = _checked(model, calibration)
    tested = None if test is None else _tested(model, test)
    judged = calibration if test is None else test
    _check_lengths(judged, row_ids=row_ids, row_texts=row_texts)
    _check_rows(first_rows, len(judged))
    dense_judged = _dense(model, judged)
    # From here on classes are identified by their ids, so their names may be replaced by titles.
    model = _titled(model, class_titles)
    checked = replace(checked, table=model.state.correction.table)
    inputs = CheckInputs(checked, None if tested is None else tested.shortlist, random_state)
    evidence: Evidence | NotApplicable
    if tested is None:
        method = _with_choice(model, checked)
        copies = held_out or cross_fit(method, checked, random_state=random_state, progress=progress)
        evidence = copies if isinstance(copies, NotApplicable) else on_held_out_rows(method, checked, copies, dial)
    else:
        method, evidence = model, on_test_rows(model, *tested, dial)
    diagnosis, note = _diagnosed(method, inputs, diagnosis, draws, progress)
    notes = (*_other_rows(model, checked), *note)
    verdict = verdict_on(method, evidence, diagnosis)
    turned = None if verdict.applied else turned_down(diagnosis)
    examples = None
    if count and isinstance(evidence, Evidence):
        chosen = choose_rows(evidence, count, random_state, first_rows)
        examples = explain_rows(evidence, chosen, row_ids, row_texts, dense_judged)
    return Content(
        title or f"REPAIR report: {mode_title(model).lower()}",
        summarize(method, verdict, evidence, diagnosis, notes, turned),
        _pictures(model, evidence, turned, diagnosis, checked, _deep(dense_judged, evidence)),
        _classes(model, evidence, turned),
        tuple(sorted(diagnosis.checks, key=_urgency)),
        facts(model, diagnosis),
        examples,
        footer(0 if examples is None else len(examples.rows), evidence, with_texts=row_texts is not None),
    )


def _checked(model: ShortlistReranker, calibration: ScoreSet) -> CalibrationSet:
    """Return the validated calibration rows, with the class table of the model."""
    table, dense = model.state.correction.table, _dense(model, calibration)
    left_out = CLASS_FIELDS if model.uses_all_scores else (*CLASS_FIELDS, *EMBEDDING_FIELDS)
    changed: dict[str, Any] = {
        **dict.fromkeys(left_out),
        "scores": model.shortlist(calibration) if dense is None else dense,
        "score_type": "logits",
        "class_names": table.class_names,
        "class_weights": table.class_weights,
    }
    rows = CalibrationSet.build(replace(calibration, **changed), model.state.n_candidates)
    return replace(rows, table=table)


class _Tested(NamedTuple):
    """Validated test rows, with class ids of the model."""

    shortlist: Shortlist
    labels: IntArray
    groups: IntArray | None


def _with_choice(model: ShortlistReranker, calibration: CalibrationSet) -> ShortlistReranker:
    """Return the model, fitted again if ``auto`` chose its mode and it comes from a file.

    A file does not contain what each fold chose, which is needed to repeat the choice.
    """
    if model.auto_ is not None or model.chosen_.mode is None:
        return model
    return model.clone().fit_checked(calibration)


def _tested(model: ShortlistReranker, test: ScoreSet) -> _Tested:
    if test.labels is None:
        raise InputError("the test set has no labels, but a report needs them; pass ScoreSet(scores, labels)")
    table = model.state.correction.table
    shortlist = model.shortlist(test)
    labels = label_ids(test.labels, len(test), table.n_classes, table.class_names)
    groups = None if test.groups is None else check_group_codes(test.groups, "groups", len(test))
    return _Tested(shortlist, labels, groups)


def _check_lengths(judged: ScoreSet, **given: Sequence[Any] | None) -> None:
    for name, values in given.items():
        if values is not None and len(values) != len(judged):
            raise InputError(
                f"{name} has {len(values)} entries, but there are {len(judged)} rows; pass one entry per row"
            )


def _check_rows(rows: Sequence[int], n_rows: int) -> None:
    wrong = next((row for row in rows if not 0 <= row < n_rows), None)
    if wrong is not None:
        raise InputError(f"first_rows has {wrong}, but rows are numbered from 0 to {n_rows - 1}")


def _dense(model: ShortlistReranker, rows: ScoreSet) -> AnyArray | None:
    """Return the scores of all classes, in the order of the model's classes, or None if there are only shortlists."""
    scores = model.log_scores(rows)
    return None if isinstance(scores, Shortlist) else np.atleast_2d(scores)


def _titled(model: ShortlistReranker, titles: Mapping[str, str] | None) -> ShortlistReranker:
    """Return the model with titles instead of class names.  Classes without a title keep their name."""
    if not titles:
        return model
    state, table = model.state, model.state.correction.table
    names = map(table.name_of, range(table.n_classes))
    titled = replace(table, class_names=tuple(titles.get(name, name) for name in names))
    return model.with_state(replace(state, correction=replace(state.correction, table=titled)))


def _deep(dense: AnyArray | None, evidence: Evidence | NotApplicable) -> Shortlist | None:
    """Return longer shortlists of the same rows, or None if the scores of all classes are not known."""
    if dense is None or isinstance(evidence, NotApplicable):
        return None
    depth = min(row_charts.DEEPER * evidence.shortlist.n_candidates, evidence.shortlist.n_classes)
    return Shortlist.from_scores(dense, depth)


def _diagnosed(
    model: ShortlistReranker, inputs: CheckInputs, given: Diagnosis | None, draws: int, progress: bool
) -> tuple[Diagnosis, tuple[str, ...]]:
    """Diagnose the calibration rows.  If there are very many, ``auto`` uses a sample, and a note says so."""
    calibration, random_state = inputs.calibration, inputs.random_state
    n_rows = len(calibration.labels)
    if given is not None:
        if given.n_rows != n_rows:
            raise InputError(
                f"diagnosis was made on {given.n_rows} rows, but calibration has {n_rows}; "
                "pass the diagnosis of these rows, or leave it out"
            )
        checks = run_checks(inputs)
        return replace(given, checks=checks, verdict=judge_auto(given.measured_on, given.auto, checks=checks)), ()
    auto = model.auto_ if isinstance(model, Reranker) and model.terms is None else None
    if auto is not None and (auto.folds is None or len(auto.folds) != n_rows):
        auto = None
    sample: CalibrationSet | None = None
    note: tuple[str, ...] = ()
    if auto is None and n_rows > MOST_CHOSEN_ON:
        sample = calibration.take(subsample(n_rows, calibration.groups, MOST_CHOSEN_ON / n_rows, random_state))
        auto = Reranker("auto", random_state=random_state).fit_checked(sample).auto_
        share = f"{len(sample.labels):,} of {n_rows:,} calibration rows"
        note = (f"The diagnosis below is based on a random sample of {share}. All other numbers use all rows.",)
    with progress_bar("diagnosing", STEPS, show=progress) as step:
        return diagnose_checked(inputs, draws, step, auto, sample), note


def _other_rows(model: ShortlistReranker, calibration: CalibrationSet) -> tuple[str, ...]:
    """Return a note if the model was fitted on other rows than these, else nothing."""
    fitted = model.state.label_counts
    if model.fit_summary_.n_rows == len(calibration.labels) and np.array_equal(fitted, calibration.label_counts()):
        return ()
    return (
        f"The given calibration rows ({len(calibration.labels):,}) are not the rows that the model was fitted on "
        f"({model.fit_summary_.n_rows:,}).",
    )


def _pictures(
    model: ShortlistReranker,
    evidence: Evidence | NotApplicable,
    turned: TurnedDown | None,
    diagnosis: Diagnosis,
    calibration: CalibrationSet,
    deep: Shortlist | None,
) -> tuple[Picture, ...]:
    if isinstance(evidence, NotApplicable):
        of_evidence = {key: missing(key, title, evidence.reason) for key, title in row_charts.TITLES.items()}
    else:
        of_evidence = {
            "by_frequency": row_charts.by_frequency(evidence.changes),
            "frontier": row_charts.frontier(model, evidence),
            "coverage": row_charts.coverage(evidence, deep),
            "reliability": row_charts.reliability(evidence),
        }
    if turned is not None:
        title = "What the correction that was turned down would change, by class frequency"
        of_evidence["by_frequency"] = row_charts.by_frequency(
            turned.changes, title, " Here, model means the correction that was turned down."
        )
    contradictory = pair_charts.pairs(diagnosis, calibration)
    pictures = [
        class_charts.long_tail(model),
        of_evidence["by_frequency"],
        of_evidence["frontier"],
        class_charts.offsets(model),
        pair_charts.gap_closed(diagnosis),
        pair_charts.quintiles(diagnosis),
        of_evidence["coverage"],
        of_evidence["reliability"],
    ]
    # Without an excess, these pairs are what chance produces, so they are not the first thing to look at.
    leads = pair_charts.is_excess(diagnosis.expected)
    return (contradictory, *pictures) if leads else (*pictures, contradictory)


def _classes(
    model: ShortlistReranker, evidence: Evidence | NotApplicable, turned: TurnedDown | None
) -> class_charts.ClassRows:
    if turned is not None:
        title = "Which classes the correction that was turned down would change"
        return class_charts.class_rows(model, turned.changes, title)
    return class_charts.class_rows(model, evidence.changes if isinstance(evidence, Evidence) else None)


def _urgency(check: Check) -> tuple[int, int, str]:
    outcomes, severities = ("failed", "passed", "not applicable"), ("error", "warning", "info")
    severity = severities.index(check.severity) if check.outcome == "failed" else 0
    return outcomes.index(check.outcome), severity, check.code
