"""Simulated patients of a simulated hospital, drawn from the annotated phenotypes of diseases.

A patient has some of the disease's phenotypes, some of them recorded less precisely than they are,
and findings that are unrelated to the disease.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import AnyArray, IntArray
from repair.errors import InputError
from repair.similarity.hpo import PHENOTYPIC_ABNORMALITY
from repair.similarity.ontology import Ontology
from repair.validation.checks import check_count, check_number

__all__ = ["Hospital", "HospitalSettings", "choose_diseases", "draw_hospital", "draw_patient"]

TRAINING, CALIBRATION, TEST = 0, 1, 2


@dataclass(frozen=True)
class HospitalSettings:
    """How diseases are chosen and patients drawn.

    Attributes
    ----------
    n_diseases : int, default 300
        Number of diseases.
    fewest_terms : int, default 8
        Diseases with fewer annotated phenotypes are left out.
    zipf : float, default 1
        The prevalence of the i-th most common disease is proportional to 1/i**zipf.
    inclusion : float, default 0.2
        Probability that an annotated phenotype of the disease is recorded for a patient.  At least one
        is always recorded.
    imprecision : float, default 0.4
        Probability that a recorded phenotype is replaced by a parent term.  The parent is replaced by
        its own parent with the same probability, and so on.
    noise : float, default 4
        Mean number of unrelated findings (Poisson).  They are drawn in proportion to how many diseases
        have them.
    n_training, n_calibration, n_test : int, default 2000, 1500 and 2000
        Number of patients of each part.  Training has at least one patient of each disease.
    seed : int, default 0
        Seed for all random draws.

    Examples
    --------
    >>> from repair.demo.patients import HospitalSettings
    >>> HospitalSettings(n_diseases=50, seed=3).n_training
    2000
    """

    n_diseases: int = 300
    fewest_terms: int = 8
    zipf: float = 1.0
    inclusion: float = 0.2
    imprecision: float = 0.4
    noise: float = 4.0
    n_training: int = 2000
    n_calibration: int = 1500
    n_test: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("n_diseases", "fewest_terms", "n_training", "n_calibration", "n_test"):
            check_count(getattr(self, name), name)
        check_count(self.seed, "seed", low=0)
        check_number(self.zipf, "zipf", 0.0, 10.0)
        check_number(self.inclusion, "inclusion", 0.0, 1.0)
        check_number(self.noise, "noise", 0.0, 1000.0)
        if check_number(self.imprecision, "imprecision", 0.0, 1.0) == 1.0:
            raise InputError("imprecision must be below 1, got 1; otherwise every phenotype would become the top term")
        if self.n_training < self.n_diseases:
            raise InputError(
                f"n_training is {self.n_training}; it must be at least n_diseases, {self.n_diseases}, so every disease "
                "has a training patient"
            )


@dataclass(frozen=True, eq=False)
class Hospital:
    """Patients with their diagnoses, in three parts.

    Attributes
    ----------
    diseases : tuple of str
        Disease ids, the most common first.
    labels : ndarray of int, shape (n,)
        Disease of each patient, as an index of `diseases`.
    patients : tuple of tuple of str
        Recorded terms of each patient, sorted, without ancestors.
    part : ndarray of int, shape (n,)
        0 for training, 1 for calibration, 2 for test.
    """

    diseases: tuple[str, ...]
    labels: IntArray
    patients: tuple[tuple[str, ...], ...]
    part: IntArray

    def __len__(self) -> int:
        """Return the number of patients."""
        return len(self.labels)


def choose_diseases(
    annotations: Mapping[str, Sequence[str]], settings: HospitalSettings, rng: np.random.Generator
) -> tuple[str, ...]:
    """Choose diseases at random among those with enough phenotypes, in the order of their prevalence.

    Parameters
    ----------
    annotations : mapping from disease id to term ids
    settings : HospitalSettings
    rng : numpy Generator

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> import numpy as np
    >>> from repair.demo.patients import HospitalSettings, choose_diseases
    >>> few = HospitalSettings(n_diseases=2, fewest_terms=2)
    >>> sorted(choose_diseases({"A": ["a", "b"], "B": ["b"], "C": ["b", "c"]}, few, np.random.default_rng(0)))
    ['A', 'C']
    """
    eligible = sorted(disease for disease, terms in annotations.items() if len(terms) >= settings.fewest_terms)
    if len(eligible) < settings.n_diseases:
        raise InputError(
            f"only {len(eligible)} diseases have at least {settings.fewest_terms} phenotypes, but n_diseases is "
            f"{settings.n_diseases}; lower n_diseases or fewest_terms"
        )
    return tuple(eligible[index] for index in rng.permutation(len(eligible))[: settings.n_diseases])


def draw_patient(
    terms: Sequence[str],
    background: Sequence[str],
    ontology: Ontology,
    settings: HospitalSettings,
    rng: np.random.Generator,
) -> tuple[str, ...]:
    """Draw the recorded terms of one patient.

    Parameters
    ----------
    terms : sequence of str
        Annotated phenotypes of the patient's disease.
    background : sequence of str
        Terms from which unrelated findings are drawn.  A term that occurs more often is drawn more often.
    ontology : Ontology
        Ontology with the parents of all terms.
    settings : HospitalSettings
    rng : numpy Generator

    Returns
    -------
    tuple of str
        The terms, sorted, without repetition.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.demo.patients import HospitalSettings, draw_patient
    >>> from repair.similarity import Ontology
    >>> tiny = Ontology({"all": (), "rash": ("all",), "itchy rash": ("rash",), "fever": ("all",)})
    >>> sure = HospitalSettings(inclusion=1.0, imprecision=0.0, noise=0.0)
    >>> draw_patient(["itchy rash", "fever"], ["fever"], tiny, sure, np.random.default_rng(0))
    ('fever', 'itchy rash')
    """
    shown = [term for term, draw in zip(terms, rng.random(len(terms)), strict=True) if draw < settings.inclusion]
    if not shown:
        shown = [_one_of(terms, rng)]
    recorded = [_less_precise(term, ontology, settings.imprecision, rng) for term in shown]
    unrelated = [_one_of(background, rng) for _ in range(rng.poisson(settings.noise))]
    return tuple(sorted({*recorded, *unrelated}))


def draw_hospital(annotations: Mapping[str, Sequence[str]], ontology: Ontology, settings: HospitalSettings) -> Hospital:
    """Draw all patients.  Calibration and test patients are drawn by prevalence only.

    Parameters
    ----------
    annotations : mapping from disease id to term ids
    ontology : Ontology
        Ontology with every term of the annotations.
    settings : HospitalSettings

    Returns
    -------
    Hospital

    Examples
    --------
    >>> from repair.demo.patients import HospitalSettings, draw_hospital
    >>> from repair.similarity import Ontology
    >>> tiny = Ontology({"all": (), "rash": ("all",), "fever": ("all",)})
    >>> few = HospitalSettings(n_diseases=2, fewest_terms=1, n_training=4, n_calibration=3, n_test=3)
    >>> hospital = draw_hospital({"A": ["rash"], "B": ["fever"]}, tiny, few)
    >>> len(hospital), hospital.part.tolist()
    (10, [0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    """
    rng = np.random.default_rng(settings.seed)
    diseases = choose_diseases(annotations, settings, rng)
    background = [term for disease in sorted(annotations) for term in annotations[disease]]
    labels = _draw_labels(settings, rng)
    patients = tuple(
        draw_patient(annotations[diseases[label]], background, ontology, settings, rng) for label in labels
    )
    part = np.repeat([TRAINING, CALIBRATION, TEST], [settings.n_training, settings.n_calibration, settings.n_test])
    return Hospital(diseases, labels, patients, part.astype(np.int32))


def _draw_labels(settings: HospitalSettings, rng: np.random.Generator) -> IntArray:
    """Return every disease once, so the base model has seen it, then diseases drawn by prevalence."""
    share = 1.0 / np.arange(1, settings.n_diseases + 1) ** settings.zipf
    n_more = settings.n_training - settings.n_diseases + settings.n_calibration + settings.n_test
    drawn: AnyArray = rng.choice(settings.n_diseases, size=n_more, p=share / share.sum())
    return np.concatenate([np.arange(settings.n_diseases), drawn]).astype(np.int32)


def _less_precise(term: str, ontology: Ontology, imprecision: float, rng: np.random.Generator) -> str:
    """Replace a term by a parent repeatedly, as long as a random draw says so, but never by a top term."""
    while rng.random() < imprecision:
        above = [up for up in ontology.parents[term] if up != PHENOTYPIC_ABNORMALITY and ontology.parents[up]]
        if not above:
            break
        term = _one_of(above, rng)
    return term


def _one_of(terms: Sequence[str], rng: np.random.Generator) -> str:
    return terms[int(rng.integers(len(terms)))]
