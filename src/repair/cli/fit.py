"""``repair fit``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repair.cli.options import Candidates, ClassOptions, Embeddings, Json, ReferenceOptions, RowOptions, Seed
from repair.cli.report import Figures, Rows, TextColumn

if TYPE_CHECKING:
    from repair.calibration import CalibrationSet
    from repair.diagnosis.applicability import NotApplicable
    from repair.diagnosis.fitted_gain import FittedGain
    from repair.estimator import ShortlistReranker
    from repair.io import ScoreFile
    from repair.statistics import PairedGain

__all__ = ["fit"]

METHOD = "Method"


@dataclass(frozen=True)
class MethodOptions:
    """What a method can be told; None leaves it to the method."""

    max_head_loss: Annotated[
        float | None,
        typer.Option(help="Points of accuracy that frequent classes may lose at most.", rich_help_panel=METHOD),
    ] = None
    strict: Annotated[
        bool, typer.Option("--strict", help="Test --max-head-loss exactly, on held-back rows.", rich_help_panel=METHOD)
    ] = False
    selection: Annotated[
        str | None,
        typer.Option(help="How to choose hyperparameters: evidence, cv or in_sample.", rich_help_panel=METHOD),
    ] = None
    terms: Annotated[
        str | None,
        typer.Option(help="Pairwise terms, with commas; else all that are possible.", rich_help_panel=METHOD),
    ] = None
    lambda_a: Annotated[float | None, typer.Option(help="Ridge penalty on offsets.", rich_help_panel=METHOD)] = None
    lambda_theta: Annotated[float | None, typer.Option(help="Ridge penalty on weights.", rich_help_panel=METHOD)] = None
    alpha: Annotated[
        float | None, typer.Option(help="Share of the weight that goes to rare classes.", rich_help_panel=METHOD)
    ] = None
    tau: Annotated[float | None, typer.Option(help="Pre-adjustment by the class prior.", rich_help_panel=METHOD)] = None
    shrinkage: Annotated[str | None, typer.Option(help="Shrink offsets: eb or paper.", rich_help_panel=METHOD)] = None
    dial: Annotated[float | None, typer.Option(help="Head–tail trade-off of the model.", rich_help_panel=METHOD)] = None

    def given(self) -> dict[str, Any]:
        """Return them as a method's constructor takes them."""
        terms = None if self.terms is None else tuple(one.strip() for one in self.terms.split(",") if one.strip())
        return {**vars(self), "strict": self.strict or None, "terms": terms}


def fit(
    calibration: Annotated[Path, typer.Argument(help="Scores with labels.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the model.", show_default=False)],
    rows: RowOptions,
    classes: ClassOptions,
    method: MethodOptions,
    reference: ReferenceOptions,
    embeddings: Embeddings = None,
    mode: Annotated[
        str, typer.Option(help="auto, classwise, pairwise, pairwise_only, extended, or a baseline.")
    ] = "auto",
    n_candidates: Candidates = 10,
    report: Annotated[Path | None, typer.Option(help="Also write a page to look at (see `repair report`).")] = None,
    examples: Rows = 0,
    text_column: TextColumn = None,
    figures: Figures = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Learn a correction from labelled rows, say what it gains, and write the model.

    The gain is measured on rows that were not fitted on, whole groups held out.
    """
    from repair.calibration import CalibrationSet
    from repair.cli.inputs import check_output, read_calibration
    from repair.cli.methods import BASELINES, make_method
    from repair.cli.output import show, show_json
    from repair.cli.report import row_texts
    from repair.cli.vectors import with_reference, with_vectors
    from repair.errors import InputError
    from repair.reranker import Reranker

    inputs = (calibration, rows, classes, embeddings, reference)
    check_output(out, *inputs)
    wanted = _ReportOptions(report, examples, text_column, figures, seed)
    wanted.check(out, *inputs)
    how = {} if mode in BASELINES else {"seed": seed, "progress": True}
    model = make_method(mode, n_candidates, **method.given(), **how)
    if embeddings is not None and not model.uses_all_scores:
        raise InputError(f"mode {mode} looks at no embeddings; leave --embeddings out, or use --mode extended or auto")
    file = with_reference(with_vectors(read_calibration(calibration, rows, classes), embeddings), reference)
    given = file.rows
    texts = row_texts(file, text_column, examples)
    checked = CalibrationSet.build(
        given.scores, given.labels, n_candidates, group_weights=model.group_weights, **given.known
    )
    model.fit_checked(checked)
    account = _Account(model, checked, _gain(model, checked, seed))
    if isinstance(model, Reranker):
        model.progress = False  # a wish of this run, not of the model
    model.save(out)
    wanted.write(model, file, texts)
    if json:
        show_json({"model": str(out), "report": None if report is None else str(report), **account.as_dict()})
    else:
        charts = "" if figures is None else f", and its charts to {figures}"
        show(f"{account}\n\nWrote {out}{'' if report is None else f' and {report}'}{charts}.")


@dataclass(frozen=True)
class _ReportOptions:
    """What was asked for about a report, if anything."""

    report: Path | None
    examples: int
    text_column: str | None
    figures: Path | None
    seed: int

    def check(self, *inputs: Any) -> None:
        """Refuse what cannot be written before anything is fitted for it."""
        from repair.cli.inputs import check_folder, check_output
        from repair.errors import InputError

        if self.report is None:
            given = {"--rows": self.examples, "--text-column": self.text_column, "--figures": self.figures}
            alone = next((name for name, value in given.items() if value), None)
            if alone is not None:
                raise InputError(f"{alone} is about the report; say where to write it with --report")
            return
        from repair.report.page import require_vega

        require_vega()
        check_output(self.report, *inputs)
        if self.report.resolve() == inputs[0].resolve():
            raise InputError(f"--out and --report both name {self.report}; name two files")
        if self.figures is not None:
            check_folder(self.figures, (), *inputs)

    def write(self, model: ShortlistReranker, file: ScoreFile, texts: list[str] | None) -> None:
        """Write the report about a fit on these rows."""
        if self.report is None:
            return
        from repair.report import write_report

        write_report(
            self.report,
            model,
            file.rows,
            rows=self.examples,
            row_ids=None if file.row_ids is None else list(file.row_ids),
            row_texts=texts,
            figures=self.figures,
            seed=self.seed,
            progress=True,
        )


def _gain(model: ShortlistReranker, checked: CalibrationSet, seed: int) -> FittedGain | NotApplicable | PairedGain:
    """Return the gain of everything that was done to get this model."""
    from repair.diagnosis.applicability import NotApplicable
    from repair.diagnosis.fitted_gain import fitted_gain

    auto = model.auto_
    if auto is None or model.head_loss_ is not None:  # the gain that auto reports is that of a full correction
        return fitted_gain(model, checked, seed=seed, progress=True)
    return NotApplicable(auto.reason) if auto.gain is None else auto.gain


class _Account:
    """What there is to say about a fit."""

    def __init__(
        self, model: ShortlistReranker, checked: CalibrationSet, gain: FittedGain | NotApplicable | PairedGain
    ) -> None:
        from repair.diagnosis.fitted_gain import FittedGain
        from repair.diagnosis.verdict import give_verdict

        self.model, self.checked = model, checked
        auto = model.auto_ if model.head_loss_ is None else None
        self.judged = None if auto is None else give_verdict(checked, auto)
        self.accuracy = gain.accuracy if isinstance(gain, FittedGain) else gain
        told = gain if isinstance(gain, FittedGain) else self.judged
        self.strata = {} if told is None or model.mode_ == "base" else {"rare": told.rare, "frequent": told.frequent}
        self.base = float(checked.importance @ (checked.positions == 0)) / float(checked.importance.sum())

    def verdict(self) -> str:
        """Return one sentence: what was chosen, or what was asked for and whether it is worth it."""
        from repair.diagnosis.applicability import NotApplicable

        if self.judged is not None:
            return self.judged.sentence
        name = self.model.mode_.capitalize()
        if isinstance(self.accuracy, NotApplicable):
            return f"{name} was fitted; there are too few rows to say what it gains."
        low, high = self.accuracy.interval()
        if low > 0:
            return f"{name} gains on rows that it was not fitted on."
        return f"{name} loses on rows that it was not fitted on." if high < 0 else f"{name} gains nothing that shows."

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers."""
        account = self.model.account_
        return {
            "verdict": self.verdict(),
            "mode": self.model.mode_,
            "base_accuracy": self.base,
            "gain": self.accuracy,
            **self.strata,
            "strength": self.model.strength_,
            "weights": self.model.weights_,
            "chosen": account.chosen,
            "converged": account.converged,
            "notes": account.notes,
            "n_rows": account.n_rows,
            "n_covered": account.n_covered,
            "n_classes": self.checked.table.n_classes,
            "n_candidates": self.checked.shortlist.n_candidates,
        }

    def __str__(self) -> str:
        """Return the verdict, the table and the notes."""
        from textwrap import fill

        from repair.cli.output import points
        from repair.statistics import PairedGain

        parts = [self.verdict(), self._table()]
        strata = [
            f"{name.capitalize()} classes: {points(gain)}"
            for name, gain in self.strata.items()
            if isinstance(gain, PairedGain)
        ]
        parts += ["\n".join(strata)] * bool(strata)
        parts += [fill(one, 110) for one in self.model.account_.notes]
        return "\n\n".join(parts)

    def _table(self) -> str:
        from repair.statistics import PairedGain
        from repair.tables import text_table

        table = [["Base", f"{100 * self.base:.1f}", "", ""]]
        if isinstance(self.accuracy, PairedGain):
            low, high = (f"{100 * one:+.1f}" for one in self.accuracy.interval())
            gain = self.accuracy.gain
            name = f"{self.model.mode_} (auto)" if self.model.auto_ is not None else self.model.mode_
            table.append([name, f"{100 * (self.base + gain):.1f}", f"{100 * gain:+.1f}", f"{low} to {high}"])
        how = "Accuracy in per cent over all calibration rows, held out where something was fitted"
        return f"{how}:\n\n{text_table(['method', 'accuracy', 'change', '95 % interval'], table)}"
