"""A rare-disease differential: real annotations, simulated patients, every step from base to explanation."""

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

from repair.auto import AutoChoice
from repair.baselines import Base, ClasswiseTemperature, LogitAdjustment
from repair.bench.term_base import base_scores, term_table
from repair.comparison import Comparison, Difference
from repair.demo.case import Case, choose_case
from repair.demo.catalogue import Catalogue, read_catalogue
from repair.demo.patients import CALIBRATION, TEST, TRAINING, Hospital, HospitalSettings, draw_hospital
from repair.diagnosis.diagnose import Diagnosis, diagnose
from repair.errors import InputError
from repair.estimator import ShortlistReranker
from repair.files import write_atomically
from repair.protocol import compare
from repair.report import write_report
from repair.reranker import Reranker
from repair.score_set import ScoreSet
from repair.similarity import hpo_jaccard
from repair.tables import text_table

__all__ = ["Differential", "compare_methods", "gains_table", "make_differential", "run_rare_disease"]

#: Terms that fewer training patients have say little about any disease and cost time.
FEWEST_CASES = 5
RESAMPLES = 2000
#: Enough for a p-value of the contradictory pairs to two digits.
DRAWS = 50
#: Simulated patients in the page's example explorer.
PATIENTS_SHOWN = 60
LINE = 110
SHOWN = {"accuracy": "all", "accuracy_rare": "rare", "accuracy_frequent": "frequent"}

NOTICE = (
    "The patients are SIMULATED from disease annotations; nobody's data are in here. What you see is decision support "
    "for ordering a differential, not diagnosis: how well it does on simulated patients says nothing about real ones."
)


@dataclass(frozen=True, eq=False)
class Differential:
    """Everything the demonstration works on.

    Attributes
    ----------
    catalogue : Catalogue
    hospital : Hospital
    calibration, test : ScoreSet
        The base model's scores, with class counts, similarity and disease ids.
    """

    catalogue: Catalogue
    hospital: Hospital
    calibration: ScoreSet
    test: ScoreSet

    @property
    def names(self) -> dict[int, str]:
        """Each label's disease by name."""
        return {label: self.catalogue.disease_names[one] for label, one in enumerate(self.hospital.diseases)}


def run_rare_disease(seed: int = 0, folder: "str | PathLike[str]" = "demo") -> Iterator[str]:
    """Run the demonstration, write model and tables into a folder, and yield what to print, piece by piece.

    Parameters
    ----------
    seed : int, default 0
        Which diseases and patients to draw.
    folder : path, default "demo"
        Is made if it is missing; files of an earlier run are replaced.

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
    """Do as `run_rare_disease`, for any settings."""
    place = _made(folder)
    said = []
    for piece in _pieces(settings, place):
        said.append(f"```\n{piece}\n```\n")
        yield piece
    write_atomically(place / "report.md", "\n".join(["# A rare-disease differential\n", *said]).encode())
    page = "report.html (open it in a browser), " if (place / "report.html").exists() else ""
    yield f"Written to {place}: {page}report.md, model.safetensors, comparison.*, rows.npz, diagnosis.txt, *.csv."


def _pieces(settings: HospitalSettings, place: Path) -> Iterator[str]:
    yield fill(NOTICE, LINE)
    problem = make_differential(settings)
    yield _describe(settings, problem)
    _write(place / "diseases.csv", _disease_csv(problem))
    calibration = problem.calibration
    diagnosis = diagnose(
        calibration.scores,
        calibration.labels,
        calibration.class_counts,
        similarity=calibration.similarity,
        class_names=calibration.class_names,
        test=problem.test,
        draws=DRAWS,
    )
    _write(place / "diagnosis.txt", f"{diagnosis}\n")
    yield _summary(diagnosis)
    comparison = compare_methods(problem, as_chosen(diagnosis.auto))
    comparison.write(place)
    comparison.models["REPAIR"].save(place / "model.safetensors")
    yield gains_table(comparison)
    yield _reading(comparison, diagnosis)
    _write_page(place / "report.html", problem, comparison, diagnosis)
    case = choose_case(comparison, problem.test, problem.names, "REPAIR")
    if case is not None:
        _write(place / "patient.csv", case.to_csv())
        yield from _about(case, problem)


def make_differential(settings: HospitalSettings) -> Differential:
    """Draw the patients, train the base on the training part, and score the others.

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
    known_well = {one: own for one, own in catalogue.annotations.items() if len(own) >= settings.fewest_terms}
    hospital = draw_hospital(known_well, ontology, settings)
    table, _ = term_table([ontology.closure(terms) for terms in hospital.patients])
    scores = base_scores(table, hospital.labels, hospital.part == TRAINING, fewest_cases=FEWEST_CASES)
    known: dict[str, Any] = {
        "class_counts": np.bincount(hospital.labels[hospital.part == TRAINING], minlength=settings.n_diseases),
        "similarity": hpo_jaccard([catalogue.annotations[one] for one in hospital.diseases], ontology),
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
        What ``mode="auto"`` chose, if that is known; it takes a few seconds to find out.

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
    methods: dict[str, ShortlistReranker] = {
        "Base": Base(),
        "LogitAdj": LogitAdjustment(),
        "Classwise": Reranker(mode="classwise"),
        "Classwise+temperature": ClasswiseTemperature(),
        "REPAIR": Reranker(mode="pairwise"),
        "auto": Reranker(mode="auto") if auto is None else auto,
    }
    return compare(methods, problem.calibration, problem.test, resamples=RESAMPLES)


def as_chosen(choice: AutoChoice) -> Reranker:
    """Return what ``Reranker(mode="auto").frozen()`` is after the same choice, without choosing again."""
    best = choice.chosen
    if best.rung == "base":
        return Reranker(mode="base")
    return Reranker(mode=best.rung, lambda_a=best.lambda_a, lambda_theta=best.lambda_theta, dial=best.dial)


def gains_table(comparison: Comparison) -> str:
    """Return one line per method: accuracy over all test patients, and what it gains on Base.

    Examples
    --------
    >>> from repair import Base, Reranker, ScoreSet, compare
    >>> from repair.bench.synthetic import SyntheticSettings, make_synthetic
    >>> from repair.demo.rare_disease import gains_table
    >>> made = make_synthetic(SyntheticSettings(n_classes=20, n_calibration=400, n_test=300, n_pairs=5))
    >>> sets = [ScoreSet(p.scores, p.labels, class_counts=made.class_counts) for p in (made.calibration, made.test)]
    >>> table = gains_table(compare({"Base": Base(5), "REPAIR": Reranker(5)}, *sets, trials=1, resamples=50))
    >>> [line.split()[:2] for line in table.splitlines()]
    [['method', 'all'], ['------', '----'], ['Base', '45.0'], ['REPAIR', '51.3']]
    """
    header = ["method"]
    for title in SHOWN.values():
        header += [title, "gain [95 %]"]
    lines = []
    for method in comparison.methods:
        gaps = comparison.difference(method)
        line = [method]
        for metric in SHOWN:
            line += [f"{100 * comparison.full[method][metric]:.1f}", _gain(gaps[metric])]
        lines.append(line if method != comparison.reference else [cell if "[" not in cell else "-" for cell in line])
    return text_table(header, lines)


def _gain(gap: Difference) -> str:
    # + 0.0 turns −0 into 0
    estimate, low, high = (round(100 * value, 1) + 0.0 for value in (gap.estimate, gap.low, gap.high))
    return f"{estimate:+.1f} [{low:+.1f}, {high:+.1f}]"


def _describe(settings: HospitalSettings, problem: Differential) -> str:
    counts = np.asarray(problem.test.class_counts)
    patients = problem.hospital.patients
    decay = "1/i" if settings.zipf == 1 else f"1/i^{settings.zipf:g}"
    text = (
        f"{settings.n_diseases} OMIM diseases with at least {settings.fewest_terms} annotated phenotypes, drawn at "
        f"random (HPO release {problem.catalogue.ontology.release}, seed {settings.seed}). In one simulated hospital "
        f"the i-th disease has a prevalence in proportion to {decay}; training "
        f"({settings.n_training} patients, {counts.max()} of the commonest disease, {counts.min()} of the rarest), "
        f"calibration ({settings.n_calibration}) and test ({settings.n_test}) come from it. A patient is recorded with "
        f"each phenotype of the disease with probability {settings.inclusion:g}; each of these is replaced by a parent "
        f"term with probability {settings.imprecision:g}, again and again; {settings.noise:g} unrelated findings come "
        f"on top on average. That makes {np.median([len(one) for one in patients]):g} terms in the median patient. "
        "The base model: TF-IDF of the terms with their ancestors, and logistic regression; its ten best diseases are "
        "the shortlist."
    )
    return fill(text, LINE)


def _summary(diagnosis: Diagnosis) -> str:
    checks = [fill(str(check), LINE) for check in diagnosis.failed]
    return "\n".join(["What the calibration patients say (diagnose):", str(diagnosis.verdict), *checks])


def _reading(comparison: Comparison, diagnosis: Diagnosis) -> str:
    first = comparison.rows["Base"]
    before, after = first["hit@1"] > 0, comparison.rows["REPAIR"]["hit@1"] > 0
    changes = [
        f"{title}: {int((~before & after & first[title]).sum())} mended, {int((before & ~after & first[title]).sum())} "
        f"lost of {int(first[title].sum())}"
        for title in ("rare", "frequent")
    ]
    tau = comparison.models["LogitAdj"].tau_
    text = (
        f"Percent of all test patients with the right disease first, and the paired gain over Base with 95 % intervals "
        f"over {comparison.setup.resamples} bootstrap resamples of the patients. For "
        f"{100 * first['covered'].mean():.1f} % the disease is among the ten candidates; no reranker can exceed that. "
        f"Rare are the four fifths of the diseases with the fewest training patients, frequent the others. Fitted on "
        f"calibration patients only; LogitAdj chose tau = {tau:g} and auto chose {diagnosis.auto.chosen.rung} there. "
        f"Patients whom REPAIR put right or wrong against Base: {'; '.join(changes)}."
    )
    return fill(text, LINE)


def _about(case: Case, problem: Differential) -> Iterator[str]:
    place = int(np.flatnonzero(problem.hospital.part == TEST)[case.row])
    own = problem.catalogue.ontology.closure(problem.catalogue.annotations[problem.hospital.diseases[case.truth]])
    called = problem.catalogue.term_names
    terms = problem.hospital.patients[place]
    fitting = ", ".join(called[term] for term in terms if term in own)
    kind = "rare" if case.rare else "frequent"
    strange = ", ".join(called[term] for term in terms if term not in own) or "none"
    yield fill(
        f"One patient, as in the paper's case study: of those with a {kind} disease whom REPAIR put right, the one "
        f"whom the base had furthest down; picked to show how, not how often. Test patient {case.row}, "
        f"{case.names[case.truth]} (*). Terms that fit the disease: {fitting}. Unrelated terms: {strange}.",
        LINE,
    )
    yield case.shortlists()
    yield f"Why: the columns add up to the score.\n\n{case.contributions()}"
    yield f"Where each method puts the disease and the candidate most like it in phenotypes:\n\n{case.rank_table()}"


def _write_page(path: Path, problem: Differential, comparison: Comparison, diagnosis: Diagnosis) -> None:
    """Write the page to look at; without the extra ``report`` there is none, nor an old one."""
    path.unlink(missing_ok=True)
    if find_spec("vl_convert") is None:
        return
    called = problem.catalogue.term_names
    patients = [problem.hospital.patients[one] for one in np.flatnonzero(problem.hospital.part == TEST)]
    write_report(
        path,
        comparison.models["REPAIR"],
        problem.calibration,
        problem.test,
        rows=PATIENTS_SHOWN,
        row_texts=["; ".join(called[term] for term in terms) for terms in patients],
        title="A rare-disease differential on simulated patients",
        class_titles={one: f"{problem.names[label]} ({one})" for label, one in enumerate(problem.hospital.diseases)},
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
    for label, one in enumerate(hospital.diseases):
        counts = [int(counts[label]) for counts in of_part]
        writer.writerow([one, problem.names[label], len(problem.catalogue.annotations[one]), *counts])
    return stream.getvalue()


def _made(folder: "str | PathLike[str]") -> Path:
    """Make the folder before the work starts, so that nobody waits for an error."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be a folder ({error.strerror}); name another one") from None
    return place


def _write(path: Path, text: str) -> None:
    write_atomically(path, text.encode())
