"""Simulated patients of a simulated hospital, drawn from what diseases are annotated with.

A patient shows some of the disease's phenotypes, some of them recorded less precisely than they
are, beside findings that have nothing to do with the disease.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repair.arrays import AnyArray, IntArray
from repair.errors import InputError
from repair.inputs import check_count, check_number
from repair.similarity.hpo import PHENOTYPIC_ABNORMALITY
from repair.similarity.ontology import Ontology

__all__ = ["Hospital", "HospitalSettings", "choose_diseases", "draw_hospital", "draw_patient"]

TRAINING, CALIBRATION, TEST = 0, 1, 2


@dataclass(frozen=True)
class HospitalSettings:
    """How diseases are chosen and patients drawn.

    Attributes
    ----------
    n_diseases : int, default 300
    fewest_terms : int, default 8
        Diseases with fewer annotated phenotypes do not take part.
    zipf : float, default 1
        The i-th most common disease has a prevalence in proportion to 1/i**zipf.
    inclusion : float, default 0.2
        Probability that a patient is recorded with an annotated phenotype of the disease; one is
        always recorded.
    imprecision : float, default 0.4
        Probability that a recorded phenotype is replaced by a parent term, and that by one of its
        own, and so on.
    noise : float, default 4
        Mean of the number of unrelated findings (Poisson), drawn as often as diseases have them.
    n_training, n_calibration, n_test : int, default 2000, 1500 and 2000
        Patients.  Training has at least one of each disease.
    seed : int, default 0

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
            raise InputError("imprecision is 1; every phenotype would end at the top, pass a number below 1")
        if self.n_training < self.n_diseases:
            raise InputError(
                f"n_training is {self.n_training}; give each of the {self.n_diseases} diseases a training patient"
            )


@dataclass(frozen=True, eq=False)
class Hospital:
    """Patients with their diagnoses, in three parts.

    Attributes
    ----------
    diseases : tuple of str
        Disease ids, the most common first; labels count through them.
    labels : ndarray of int, shape (n,)
    patients : tuple of tuple of str
        Each patient's recorded terms, sorted, without ancestors.
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
    """Choose diseases at random among those with enough phenotypes; their order is their rank in prevalence.

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
    known = sorted(one for one, terms in annotations.items() if len(terms) >= settings.fewest_terms)
    if len(known) < settings.n_diseases:
        raise InputError(
            f"only {len(known)} diseases have {settings.fewest_terms} phenotypes; "
            f"ask for fewer than n_diseases={settings.n_diseases}, or lower fewest_terms"
        )
    return tuple(known[place] for place in rng.permutation(len(known))[: settings.n_diseases])


def draw_patient(
    terms: Sequence[str],
    background: Sequence[str],
    ontology: Ontology,
    settings: HospitalSettings,
    rng: np.random.Generator,
) -> tuple[str, ...]:
    """Draw what one patient is recorded with.

    Parameters
    ----------
    terms : sequence of str
        The disease's annotated phenotypes.
    background : sequence of str
        Where unrelated findings are drawn from; a term may be there many times.
    ontology : Ontology
        Where parent terms come from.
    settings : HospitalSettings
    rng : numpy Generator

    Returns
    -------
    tuple of str
        Terms, sorted, each once.

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
    """Draw all patients; calibration and test patients come in by prevalence alone.

    Parameters
    ----------
    annotations : mapping from disease id to term ids
    ontology : Ontology
        Has every term of the annotations.
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
    background = [term for one in sorted(annotations) for term in annotations[one]]
    labels = _draw_labels(settings, rng)
    patients = tuple(draw_patient(annotations[diseases[one]], background, ontology, settings, rng) for one in labels)
    part = np.repeat([TRAINING, CALIBRATION, TEST], [settings.n_training, settings.n_calibration, settings.n_test])
    return Hospital(diseases, labels, patients, part.astype(np.int32))


def _draw_labels(settings: HospitalSettings, rng: np.random.Generator) -> IntArray:
    """Every disease once, for the base must have seen it; then everybody by prevalence."""
    share = 1.0 / np.arange(1, settings.n_diseases + 1) ** settings.zipf
    n_more = settings.n_training - settings.n_diseases + settings.n_calibration + settings.n_test
    drawn: AnyArray = rng.choice(settings.n_diseases, size=n_more, p=share / share.sum())
    return np.concatenate([np.arange(settings.n_diseases), drawn]).astype(np.int32)


def _less_precise(term: str, ontology: Ontology, imprecision: float, rng: np.random.Generator) -> str:
    """Climb from parent to parent while chance says so, but not to the top, which says nothing."""
    while rng.random() < imprecision:
        above = [one for one in ontology.parents[term] if one != PHENOTYPIC_ABNORMALITY and ontology.parents[one]]
        if not above:
            break
        term = _one_of(above, rng)
    return term


def _one_of(terms: Sequence[str], rng: np.random.Generator) -> str:
    return terms[int(rng.integers(len(terms)))]
