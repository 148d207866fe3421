"""``write_report``: from a fitted model and rows to a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from repair.diagnosis.diagnose import Diagnosis
from repair.estimator import ShortlistReranker
from repair.files import write_atomically
from repair.report.content import Content, gather
from repair.report.figures import write_figures
from repair.report.page import as_html, require_vega
from repair.score_set import ScoreSet

__all__ = ["write_report"]


def write_report(
    path: str | PathLike[str],
    model: ShortlistReranker,
    calibration: ScoreSet,
    test: ScoreSet | None = None,
    *,
    rows: int = 0,
    row_ids: Sequence[Any] | None = None,
    row_texts: Sequence[Any] | None = None,
    figures: str | PathLike[str] | None = None,
    dial: float | None = None,
    title: str | None = None,
    class_titles: Mapping[str, str] | None = None,
    diagnosis: Diagnosis | None = None,
    draws: int = 200,
    seed: int = 0,
    progress: bool = False,
) -> Content:
    """Write one self-contained HTML file about a fitted model (needs the extra ``report``).

    Parameters
    ----------
    path : path
        Where to write; whole or not at all.
    model : fitted Reranker or baseline
    calibration : ScoreSet
        The rows that the model was fitted on.  What it knows about the classes is taken from the model.
    test : ScoreSet, optional
        Labelled rows that were not fitted on.  Without them the method is judged on calibration rows,
        each ranked by a copy that was fitted on the other four fifths of the groups.
    rows : int, default 0
        Single rows to put into the file, for the example explorer.
    row_ids, row_texts : sequences, optional
        What to call each of the rows that are judged (test, or else calibration), and a text to show with it.
    figures : path, optional
        A folder to write the charts into, as SVG and PNG.
    dial : float, optional
        Head–tail trade-off to judge the model at; its own by default.
    title : str, optional
    class_titles : mapping, optional
        What to call classes on the page, by class name (by id as text, where the model has no names).
    diagnosis : Diagnosis, optional
        What `repair.diagnose` said about the calibration rows, if that is known; else it is done anew.
    draws : int, default 200
        Draws of labels for the expected number of contradictory pairs.
    seed : int, default 0
        Of folds, draws and samples.
    progress : bool, default False
        Show how far it is (needs the extra ``cli``).

    Returns
    -------
    Content
        What the file shows, as plain data.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Reranker, ScoreSet
    >>> from repair.report import write_report
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 6, size=400)
    >>> rows = ScoreSet(rng.normal(size=(400, 6)) + np.eye(6)[labels], labels)
    >>> model = Reranker(4, "classwise").fit(rows.scores, rows.labels)
    >>> write_report("report.html", model, rows).words.headline  # doctest: +SKIP
    'It makes no difference that shows'
    """
    require_vega()  # before the work
    content = gather(
        model,
        calibration,
        test,
        rows=rows,
        row_ids=row_ids,
        row_texts=row_texts,
        dial=dial,
        title=title,
        class_titles=class_titles,
        diagnosis=diagnosis,
        draws=draws,
        seed=seed,
        progress=progress,
    )
    page = as_html(content).encode()
    if figures is not None:
        write_figures(content, figures)
    write_atomically(path, page)
    return content
