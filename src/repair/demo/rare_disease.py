"""Rare diseases ranked for simulated patients, from real annotations: every step from base model to explanation."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from repair._utils.atomic_write import write_atomically
from repair._utils.text_tables import text_table
from repair.comparison.compare import compare
from repair.comparison.result import Comparison
from repair.data.score_set import ScoreSet
from repair.demo.case import Case, choose_case
from repair.demo.catalogue import Catalogue, read_catalogue
from repair.demo.patients import CALIBRATION, TEST, TRAINING, Hospital, HospitalSettings, draw_hospital
from repair.demo.term_classifier import base_scores, term_table
from repair.diagnosis.diagnose import Diagnosis, diagnose
from repair.errors import InputError
from repair.report import write_report
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.methods import make_method, title_of
from repair.rerankers.reranker import Reranker
from repair.similarity import hpo_jaccard
from repair.stats.paired_gains import paired_gain

__all__ = ["Differential", "compare_methods", "gains_table", "make_differential", "run_rare_disease"]

#: Names of the methods that are compared.
METHODS = ("base", "logit_adjustment", "classwise", "classwise_temperature", "pairwise", "auto")
#: Terms of fewer training patients than this are left out.  They carry little information and cost time.
FEWEST_CASES = 5
RESAMPLES = 2000
#: Label draws for the contradictory pairs, enough for two digits of the p-value.
DRAWS = 50
#: Number of simulated patients that the report shows as single rows.
PATIENTS_SHOWN = 60
LINE = 110
#: Columns of the table: the metric, its title, and the rows that it is about (all rows, or those of a stratum).
SHOWN = (("accuracy", "all", None), ("accuracy_rare", "rare", "rare"), ("accuracy_frequent", "frequent", "frequent"))

NOTICE = (
    "The patients are SIMULATED from disease annotations. There is no data of real people in here. This is decision "
    "support that orders a differential, not diagnosis: results on simulated patients say nothing about real ones."
)


@dataclass(frozen=True, eq=False)
class Differential:
    """The data of the demonstration.

    Attributes
    ----------
    catalogue : Catalogue
        Diseases, phenotypes and names.
    hospital : Hospital
        The simulated patients.
    calibration, test : ScoreSet
        Scores of the base model, with class counts, similarity and disease ids.
    """

    catalogue: Catalogue
    hospital: Hospital
    calibration: ScoreSet
    test: ScoreSet

    @property
    def names(self) -> dict[int, str]:
        """The name of the disease of each label."""
        return {label: self.catalogue.disease_names[disease] for label, disease in enumerate(self.hospital.diseases)}


def run_rare_disease(seed: int = 0, folder: "str | PathLike[str]" = "demo") -> Iterator[str]:
    """Run the demonstration, write its files to a folder, and yield the texts to print, one after the other.

    Parameters
    ----------
    seed : int, default 0
        Seed for the random draw of diseases and patients.
    folder : path, default "demo"
        Folder to write to.  It is created if it is missing.  Files of an earlier run are replaced.

    Yields
    ------
    str

    Examples
    --------
    >>> from repair.demo import run_rare_disease
    >>> for piece in run_rare_disease(seed=0, folder="demo"):  # doctest: +SKIP
    ...     print(piece)
    """
    return demonstrate(HospitalSettings(seed=seed), folder)


def demonstrate(settings: HospitalSettings, folder: "str | PathLike[str]") -> Iterator[str]:
    """Run the demonstration with any settings, and yield the texts to print, one after the other."""
    target = _made(folder)
    printed = []
    for piece in _pieces(settings, target):
        printed.append(f"```\n{piece}\n```\n")
        yield piece
    write_atomically(target / "report.md", "\n".join(["# A rare-disease differential\n", *printed]).encode())
    page = "report.html (open it in a browser), " if (target / "report.html").exists() else ""
    yield f"Written to {target}: {page}report.md, model.safetensors, comparison.*, rows.npz, diagnosis.txt, *.csv."


def _pieces(settings: HospitalSettings, target: Path) -> Iterator[str]:
    yield fill(NOTICE, LINE)
    problem = make_differential(settings)
    yield _describe(settings, problem)
    _write(target / "diseases.csv", _disease_csv(problem))
    calibration = problem.calibration
    diagnosis = diagnose(calibration, test=problem.test, draws=DRAWS)
    _write(target / "diagnosis.txt", f"{diagnosis}\n")
    yield _summary(diagnosis)
    comparison = compare_methods(problem, Reranker().with_chosen_parameters(diagnosis.auto.chosen.choice))
    comparison.write(target)
    comparison.models["pairwise"].save(target / "model.safetensors")
    yield gains_table(comparison)
    yield _reading(comparison, diagnosis)
    case = choose_case(comparison, problem.test, problem.names, "pairwise")
    _write_page(target / "report.html", problem, comparison, diagnosis, [] if case is None else [case.row])
    if case is not None:
        _write(target / "patient.csv", case.to_csv())
        yield from _about(case, problem)


def make_differential(settings: HospitalSettings) -> Differential:
    """Draw the patients, train the base model on the training part, and score the other parts.

    Parameters
    ----------
    settings : HospitalSettings

    Returns
    -------
    Differential

    Examples
    --------
    >>> from repair.demo.patients import HospitalSettings
    >>> from repair.demo.rare_disease import make_differential
    >>> len(make_differential(HospitalSettings()).test)  # doctest: +SKIP
    2000
    """
    catalogue = read_catalogue()
    ontology = catalogue.ontology
    annotated = {name: terms for name, terms in catalogue.annotations.items() if len(terms) >= settings.fewest_terms}
    hospital = draw_hospital(annotated, ontology, settings)
    table, _ = term_table([ontology.closure(terms) for terms in hospital.patients])
    scores = base_scores(table, hospital.labels, hospital.part == TRAINING, fewest_cases=FEWEST_CASES)
    known: dict[str, Any] = {
        "class_counts": np.bincount(hospital.labels[hospital.part == TRAINING], minlength=settings.n_diseases),
        "similarity": hpo_jaccard([catalogue.annotations[disease] for disease in hospital.diseases], ontology),
        "class_names": hospital.diseases,
    }
    calibration, test = (
        ScoreSet(scores[hospital.part == part], hospital.labels[hospital.part == part], **known)
        for part in (CALIBRATION, TEST)
    )
    return Differential(catalogue, hospital, calibration, test)


def compare_methods(problem: Differential, auto: ShortlistReranker | None = None) -> Comparison:
    """Fit every method on the calibration patients and score it on the test patients.

    Parameters
    ----------
    problem : Differential
    auto : reranker, optional
        Unfitted model that ``mode="auto"`` chose.  Pass it to save a few seconds; by default it is
        chosen here.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from repair.demo.patients import HospitalSettings
    >>> from repair.demo.rare_disease import compare_methods, make_differential
    >>> compare_methods(make_differential(HospitalSettings()))  # doctest: +SKIP
    Comparison(6 methods, 5 trials, 2000 test rows)
    """
    methods = {name: make_method(name) for name in METHODS}
    if auto is not None:
        methods["auto"] = auto
    return compare(methods, problem.calibration, problem.test, resamples=RESAMPLES)


def gains_table(comparison: Comparison) -> str:
    """Return a table with one line per method: accuracy over all test patients, and the gain over Base.

    Examples
    --------
    >>> from repair import Base, Reranker, ScoreSet, compare
    >>> from repair.datasets import SyntheticSettings, make_synthetic
    >>> from repair.demo.rare_disease import gains_table
    >>> made = make_synthetic(SyntheticSettings(n_classes=20, n_calibration=400, n_test=300, n_pairs=4))
    >>> sets = [ScoreSet(p.scores, p.labels, class_counts=made.class_counts) for p in (made.calibration, made.test)]
    >>> methods = {"base": Base(5), "pairwise": Reranker("pairwise", n_candidates=5)}
    >>> table = gains_table(compare(methods, *sets, trials=1, resamples=50))
    >>> [line.split()[:2] for line in table.splitlines()]
    [['method', 'all'], ['--------', '----'], ['Base', '45.0'], ['Pairwise', '51.3']]
    """
    header = ["method"]
    for _, title, _ in SHOWN:
        header += [title, "gain [95 %]"]
    lines = []
    for method in comparison.methods:
        line = [title_of(method)]
        for metric, _, stratum in SHOWN:
            line.append(f"{100 * comparison.full[method][metric]:.1f}")
            line.append("-" if method == comparison.reference else _gain(comparison, method, stratum))
        lines.append(line)
    return text_table(header, lines)


def _gain(comparison: Comparison, method: str, stratum: str | None) -> str:
    """Return the paired gain over the reference with its interval, as the report computes it."""
    base, rows = comparison.rows[comparison.reference], comparison.rows[method]
    which = np.ones(len(comparison.labels), dtype=bool) if stratum is None else base[stratum].astype(bool)
    difference = (rows["hit@1"] - base["hit@1"])[which]
    gain = paired_gain(difference, np.ones(len(difference)), None)
    # + 0.0 turns −0 into 0
    estimate, low, high = (round(100 * value, 1) + 0.0 for value in (gain.gain, *gain.interval()))
    return f"{estimate:+.1f} [{low:+.1f}, {high:+.1f}]"


def _describe(settings: HospitalSettings, problem: Differential) -> str:
    counts = np.asarray(problem.test.class_counts)
    patients = problem.hospital.patients
    decay = "1/i" if settings.zipf == 1 else f"1/i^{settings.zipf:g}"
    text = (
        f"{settings.n_diseases} OMIM diseases with at least {settings.fewest_terms} annotated phenotypes, drawn at "
        f"random (HPO release {problem.catalogue.ontology.release}, seed {settings.seed}). In one simulated hospital, "
        f"the prevalence of the i-th disease is proportional to {decay}. All patients come from this hospital: "
        f"{settings.n_training} for training ({counts.max()} with the most common disease, {counts.min()} with the "
        f"rarest), {settings.n_calibration} for calibration and {settings.n_test} for test. Each phenotype of the "
        f"disease is recorded with probability {settings.inclusion:g}. Each recorded phenotype is replaced by a parent "
        f"term with probability {settings.imprecision:g}, repeatedly. On average {settings.noise:g} unrelated "
        f"findings are added. The median patient has {np.median([len(terms) for terms in patients]):g} terms. The "
        "base model is a logistic regression on TF-IDF of the terms with their ancestors. Its ten best diseases are "
        "the shortlist."
    )
    return fill(text, LINE)


def _summary(diagnosis: Diagnosis) -> str:
    checks = [fill(str(check), LINE) for check in diagnosis.failed]
    return "\n".join(["Diagnosis of the calibration patients (repair diagnose):", str(diagnosis.verdict), *checks])


def _reading(comparison: Comparison, diagnosis: Diagnosis) -> str:
    first = comparison.rows["base"]
    before, after = first["hit@1"] > 0, comparison.rows["pairwise"]["hit@1"] > 0
    changes = [
        f"{title} diseases, {int((~before & after & first[title]).sum())} patients fixed and "
        f"{int((before & ~after & first[title]).sum())} broken of {int(first[title].sum())}"
        for title in ("rare", "frequent")
    ]
    tau = comparison.models["logit_adjustment"].tau_
    text = (
        "The table shows the percentage of test patients whose true disease is first, and the paired gain over Base "
        "with its 95 % interval, as in the report. The true disease "
        f"is among the ten candidates for {100 * first['covered'].mean():.1f} % of the patients, which no reranker can "
        "exceed. Rare diseases are the four fifths with the fewest training patients, frequent ones the rest. All "
        f"methods were fitted on calibration patients only. LogitAdj chose tau = {tau:g} and auto chose "
        f"{diagnosis.auto.chosen.mode}. Changes by Pairwise compared with Base: {'; '.join(changes)}."
    )
    return fill(text, LINE)


def _about(case: Case, problem: Differential) -> Iterator[str]:
    index = int(np.flatnonzero(problem.hospital.part == TEST)[case.row])
    annotated = problem.catalogue.annotations[problem.hospital.diseases[case.truth]]
    expected = problem.catalogue.ontology.closure(annotated)
    name_of = problem.catalogue.term_names
    terms = problem.hospital.patients[index]
    fitting = ", ".join(name_of[term] for term in terms if term in expected)
    kind = "rare" if case.rare else "frequent"
    unrelated = ", ".join(name_of[term] for term in terms if term not in expected) or "none"
    yield fill(
        "One patient, as in the paper's case study. This patient was chosen by a rule: among the patients with a "
        f"{kind} disease that Pairwise fixed, it is the one whose disease was furthest down on the base shortlist. "
        "It shows how the correction works, not how often it helps, and it is the first of the single rows in "
        f"report.html. Test patient {case.row}, true disease: "
        f"{case.names[case.truth]} (*). Terms that fit the disease: {fitting}. Unrelated terms: {unrelated}.",
        LINE,
    )
    yield case.shortlists()
    yield f"Why the order changed (the columns add up to the score):\n\n{case.contributions()}"
    yield f"Rank of the disease, and of the candidate with the most similar phenotypes:\n\n{case.rank_table()}"


def _write_page(
    path: Path, problem: Differential, comparison: Comparison, diagnosis: Diagnosis, first: list[int]
) -> None:
    """Write the HTML report, with some patients first.

    Without the extra ``report`` none is written, and an old one is removed.
    """
    path.unlink(missing_ok=True)
    if find_spec("vl_convert") is None:
        return
    name_of = problem.catalogue.term_names
    patients = [problem.hospital.patients[index] for index in np.flatnonzero(problem.hospital.part == TEST)]
    write_report(
        path,
        comparison.models["pairwise"],
        problem.calibration,
        problem.test,
        rows=PATIENTS_SHOWN,
        first_rows=first,
        row_texts=["; ".join(name_of[term] for term in terms) for terms in patients],
        title="A rare-disease differential on simulated patients",
        class_titles={name: f"{problem.names[label]} ({name})" for label, name in enumerate(problem.hospital.diseases)},
        diagnosis=diagnosis,
    )


def _disease_csv(problem: Differential) -> str:
    hospital = problem.hospital
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["disease", "name", "phenotypes", "training", "calibration", "test"])
    of_part = [
        np.bincount(hospital.labels[hospital.part == part], minlength=len(hospital.diseases))
        for part in (TRAINING, CALIBRATION, TEST)
    ]
    for label, disease in enumerate(hospital.diseases):
        counts = [int(counts[label]) for counts in of_part]
        writer.writerow([disease, problem.names[label], len(problem.catalogue.annotations[disease]), *counts])
    return stream.getvalue()


def _made(folder: "str | PathLike[str]") -> Path:
    """Create the folder before any work is done, so an error does not come late."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be created ({error.strerror}); name another folder") from None
    return target


def _write(path: Path, text: str) -> None:
    write_atomically(path, text.encode())
