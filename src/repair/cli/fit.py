"""``repair fit``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repair.cli.options import (
    Candidates,
    ClassOptions,
    Embeddings,
    Json,
    ReferenceOptions,
    RowOptions,
    Seed,
    StrataRule,
    read_dial,
)
from repair.cli.report import Figures, Rows, TextColumn

if TYPE_CHECKING:
    from repair.cli.fit_summary import Judged
    from repair.io import ScoreFile
    from repair.rerankers.base import ShortlistReranker

__all__ = ["fit"]

METHOD = "Method"


@dataclass(frozen=True)
class MethodOptions:
    """Parameters of the method.  None means its default."""

    tuning: Annotated[
        str | None,
        typer.Option(
            help="How to choose hyperparameters: evidence (marginal likelihood), cv (cross-validation over the paper's "
            "grid) or in_sample (accuracy on the fitted rows, as in the paper). Default: evidence, unless a "
            "penalty or --shrinkage is given. Use cv if you have thousands of rows and a minute to spare, and "
            "in_sample only to reproduce the paper.",
            rich_help_panel=METHOD,
        ),
    ] = None
    terms: Annotated[
        str | None,
        typer.Option(
            help="Pairwise terms, separated by commas: score_gap, rank_gap, log_prob_ratio, similarity, "
            "log_freq_ratio; with --mode extended also context, neighbours, head. Default: all whose inputs are given. "
            "Name them to leave one out, for example neighbours, which stores rows in the model.",
            rich_help_panel=METHOD,
        ),
    ] = None
    lambda_a: Annotated[
        float | None,
        typer.Option(
            help="Ridge penalty on class offsets. Default: chosen by --tuning, or 0.001 if only the other penalty is "
            "given. Set it to repeat a known fit.",
            rich_help_panel=METHOD,
        ),
    ] = None
    lambda_theta: Annotated[
        float | None,
        typer.Option(help="Like --lambda-a, for the weights of the terms.", rich_help_panel=METHOD),
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(
            help="Share of the fit's weight that favours rows of rare classes, from 0 to 1. Default: 0. "
            "Use it to reproduce the paper; --dial has the same purpose and needs no new fit.",
            rich_help_panel=METHOD,
        ),
    ] = None
    tau: Annotated[
        float | None,
        typer.Option(
            help="Exponent of the pre-adjustment: the fit starts from score − tau·log(class prior). Default: 0. "
            "Use it to reproduce the paper.",
            rich_help_panel=METHOD,
        ),
    ] = None
    shrinkage: Annotated[
        str | None,
        typer.Option(
            help="Shrink class offsets towards the mean of their group: eb (empirical Bayes, inside the fit), paper "
            "(the paper's formula, after the fit) or none. Default: eb if the penalties are chosen by evidence, else "
            "none. Use paper or none to reproduce the paper.",
            rich_help_panel=METHOD,
        ),
    ] = None
    dial: Annotated[
        str | None,
        typer.Option(
            parser=read_dial,
            metavar="NUMBER|macro",
            help="Trade-off between frequent and rare classes that is stored in the model: 0 favours overall accuracy, "
            "1 weighs all classes equally, and macro aims at accuracy averaged over classes. Default: 0.",
            rich_help_panel=METHOD,
        ),
    ] = None
    head_loss: Annotated[
        float | None,
        typer.Option(
            help="Largest loss of accuracy on rows of frequent classes, in percentage points. The correction is scaled "
            "down to stay within it on held-out rows. Default: no limit; 1.0 is a good start.",
            rich_help_panel=METHOD,
        ),
    ] = None
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Make the test of --head-loss exact: fit on 60 % of the groups and test on the others. The default "
            "test, by folds, is approximate but uses all rows for the fit.",
            rich_help_panel=METHOD,
        ),
    ] = False

    def given(self) -> dict[str, Any]:
        """Return the options as keyword arguments of a method's constructor."""
        from repair.errors import InputError
        from repair.tuning.options import HeadLossLimit

        if self.exact and self.head_loss is None:
            raise InputError(
                "--exact only applies to --head-loss; add --head-loss, for example --head-loss 1.0, or drop --exact"
            )
        limit = None if self.head_loss is None else HeadLossLimit(self.head_loss, exact=self.exact)
        terms = None if self.terms is None else tuple(name.strip() for name in self.terms.split(",") if name.strip())
        options = {name: value for name, value in vars(self).items() if name != "exact"}
        shrinkage = False if self.shrinkage == "none" else self.shrinkage
        return {**options, "terms": terms, "head_loss": limit, "shrinkage": shrinkage}


def fit(
    calibration: Annotated[Path, typer.Argument(help="Labelled rows to fit on.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write, .safetensors.", show_default=False)],
    rows: RowOptions,
    classes: ClassOptions,
    method: MethodOptions,
    reference: ReferenceOptions,
    embeddings: Embeddings = None,
    mode: Annotated[
        str,
        typer.Option(
            help="Correction to fit. auto takes the simplest one whose gain on held-out rows is significant, or none. "
            "Others: classwise, pairwise, pairwise_only, extended, published, and the baselines base, "
            "logit_adjustment, tau_normalization, temperature and classwise_temperature."
        ),
    ] = "auto",
    n_candidates: Candidates = 10,
    report: Annotated[
        Path | None, typer.Option(help="Also write an HTML report to this file (see `repair report`).")
    ] = None,
    examples: Rows = 0,
    text_column: TextColumn = None,
    figures: Figures = None,
    strata: StrataRule = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Fit a correction on labelled rows, print its gain, and write the model.

    The gain is measured on held-out rows. Groups are held out as a whole.
    """
    from dataclasses import replace

    from repair.cli.fit_summary import FitReport, judge_fit
    from repair.cli.inputs import check_output, read_calibration
    from repair.cli.output import show, show_json
    from repair.cli.report import row_texts
    from repair.cli.vectors import with_reference, with_vectors
    from repair.data.calibration_set import CalibrationSet
    from repair.errors import InputError

    inputs = (calibration, rows, classes, embeddings, reference)
    check_output(out, *inputs)
    report_options = _ReportOptions(report, examples, text_column, figures, seed)
    report_options.check(out, *inputs)
    model = _make(mode, n_candidates, method, seed)
    if embeddings is not None and not model.uses_all_scores:
        raise InputError(f"mode {mode} does not use embeddings; drop --embeddings, or use --mode extended or auto")
    file = with_reference(with_vectors(read_calibration(calibration, rows, classes), embeddings), reference)
    texts = row_texts(file, text_column, examples)
    checked = CalibrationSet.build(file.rows, n_candidates)
    model.fit_checked(checked, progress=True)
    model = model.with_state(replace(model.state, columns=file.columns.given()))
    judged = judge_fit(model, checked, seed, strata)
    summary = FitReport(model, checked, judged.verdict)
    model.save(out)
    report_options.write(model, file, texts, judged)
    if json:
        show_json({"model": str(out), "report": None if report is None else str(report), **summary.as_dict()})
    else:
        charts = "" if figures is None else f", and its charts to {figures}"
        show(f"{summary}\n\nWrote {out}{'' if report is None else f' and {report}'}{charts}.")


def _make(mode: str, n_candidates: int, method: MethodOptions, seed: int) -> ShortlistReranker:
    """Return the unfitted method.  Only methods that draw folds take a seed."""
    from inspect import signature

    from repair.errors import InputError
    from repair.rerankers.methods import METHODS, make_method

    options = method.given()
    if mode in METHODS and METHODS[mode].rival:
        usable = ", ".join(name for name, one in METHODS.items() if not one.rival)
        raise InputError(
            f"{mode!r} can be compared (`repair compare`) but not fitted and saved; choose one of {usable}"
        )
    if mode in METHODS and "random_state" in signature(METHODS[mode].kind).parameters:
        options["random_state"] = seed
    return make_method(mode, n_candidates, **options)


@dataclass(frozen=True)
class _ReportOptions:
    """The options about the report."""

    report: Path | None
    examples: int
    text_column: str | None
    figures: Path | None
    seed: int

    def check(self, *inputs: Any) -> None:
        """Raise an error, before anything is fitted, if the options conflict or the files cannot be written."""
        from repair.cli.inputs import check_folder, check_output
        from repair.errors import InputError

        if self.report is None:
            given = {"--rows": self.examples, "--text-column": self.text_column, "--figures": self.figures}
            alone = next((name for name, value in given.items() if value), None)
            if alone is not None:
                raise InputError(f"{alone} only applies to a report; add --report FILE, or drop {alone}")
            return
        from repair.report.page import require_vega

        require_vega()
        check_output(self.report, *inputs)
        if self.report.resolve() == inputs[0].resolve():
            raise InputError(f"--out and --report are both {self.report}; name two different files")
        if self.figures is not None:
            check_folder(self.figures, (), *inputs)

    def write(self, model: ShortlistReranker, file: ScoreFile, texts: list[str] | None, judged: Judged) -> None:
        """Write the report about a fit on these rows, if there is to be one."""
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
            held_out=judged.copies,
            random_state=self.seed,
            progress=True,
        )
