"""``write_report``, which writes an HTML report about a fitted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from repair._utils.atomic_write import write_atomically
from repair.data.score_set import ScoreSet
from repair.diagnosis.diagnose import Diagnosis
from repair.evaluation.cross_fitting import CrossFit
from repair.report.content import Content, gather
from repair.report.figures import write_figures
from repair.report.page import as_html, require_vega
from repair.rerankers.base import ShortlistReranker
from repair.stats.not_applicable import NotApplicable

__all__ = ["write_report"]


def write_report(
    path: str | PathLike[str],
    model: ShortlistReranker,
    calibration: ScoreSet,
    test: ScoreSet | None = None,
    *,
    rows: int = 0,
    first_rows: Sequence[int] = (),
    row_ids: Sequence[Any] | None = None,
    row_texts: Sequence[Any] | None = None,
    figures: str | PathLike[str] | None = None,
    dial: float | str | None = None,
    title: str | None = None,
    class_titles: Mapping[str, str] | None = None,
    diagnosis: Diagnosis | None = None,
    held_out: CrossFit | NotApplicable | None = None,
    draws: int = 200,
    random_state: int = 0,
    progress: bool = False,
) -> Content:
    """Write one self-contained HTML file about a fitted model (needs the extra ``report``).

    Parameters
    ----------
    path : path
        File to write.  It is written completely or not at all.
    model : fitted Reranker or baseline
        The model to report on.
    calibration : ScoreSet
        The rows that the model was fitted on.  Class-level inputs are taken from the model.
    test : ScoreSet, optional
        Labelled rows that the model was not fitted on.  Without them, gains are measured on calibration
        rows, each ranked by a copy of the model that was fitted on the other four fifths of the groups.
    rows : int, default 0
        Number of single rows to explain on the page.  They become part of the file, so raise
        it only if its readers may see single rows.
    first_rows : sequence of int, default ()
        Indices of rows that are shown first.  They count towards `rows`.  Pass them if the report should
        contain certain rows, such as those that you refer to elsewhere.  By default all rows are drawn.
    row_ids, row_texts : sequences, optional
        The id of each row, and a text to show with it, for the test rows or, without them, the
        calibration rows.  By default rows are numbered and have no text.
    figures : path, optional
        Folder to write the charts to, as SVG and PNG.  By default they are only on the page.  Pass it if
        you need the charts as files.
    dial : float or "macro", optional
        Trade-off between frequent and rare classes at which to evaluate the model.  Defaults to the
        model's dial.  Pass it if you will rerank with another one.
    title : str, optional
        Title of the page.  By default it names the mode.  Pass it if the page should name your data.
    class_titles : mapping, optional
        Titles to show instead of class names, by class name, or by id as text if the model has no names.
    diagnosis : Diagnosis, optional
        Result of `repair.diagnose` on the calibration rows.  Pass it to save time; by default it is
        computed here.
    held_out : CrossFit, optional
        Copies of the model that `repair.evaluation.cross_fitting.cross_fit` fitted on the calibration
        rows.  Pass them to save time; by default they are fitted here.
    draws : int, default 200
        Number of label draws for the expected number of contradictory pairs.  Pass a larger number if
        you need a more precise p-value, or a smaller one for a quick look.
    random_state : int, default 0
        Seed for folds, draws and samples.
    progress : bool, default False
        Whether to show a progress bar (needs the extra ``cli``).

    Returns
    -------
    Content
        The content of the file as plain data.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Reranker, ScoreSet
    >>> from repair.report import write_report
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 6, size=400)
    >>> rows = ScoreSet(rng.normal(size=(400, 6)) + np.eye(6)[labels], labels)
    >>> model = Reranker("classwise", n_candidates=4).fit(rows)
    >>> write_report("report.html", model, rows).words.headline  # doctest: +SKIP
    'No measurable difference'
    """
    require_vega()  # before any work is done
    content = gather(
        model,
        calibration,
        test,
        rows=rows,
        first_rows=first_rows,
        row_ids=row_ids,
        row_texts=row_texts,
        dial=dial,
        title=title,
        class_titles=class_titles,
        diagnosis=diagnosis,
        held_out=held_out,
        draws=draws,
        random_state=random_state,
        progress=progress,
    )
    page = as_html(content).encode()
    if figures is not None:
        write_figures(content, figures)
    write_atomically(path, page)
    return content
