"""Patients are drawn as the settings say."""

import numpy as np
import pytest

from repair import InputError
from repair.demo.patients import Hospital, HospitalSettings, choose_diseases, draw_hospital, draw_patient
from repair.similarity import Ontology
from repair.similarity.hpo import PHENOTYPIC_ABNORMALITY as TOP

SIGNS = [f"sign {number}" for number in range(40)]
ONTOLOGY = Ontology(
    {"root": (), TOP: ("root",), "organ": (TOP,), "part": ("organ",), "other part": ("organ",)}
    | dict.fromkeys(SIGNS, ("part", "other part"))
    | {"unrelated": (TOP,)}
)
SURE = {"inclusion": 1.0, "imprecision": 0.0, "noise": 0.0}


def draw(n, terms=SIGNS, background=("unrelated",), **settings):
    rng = np.random.default_rng(0)
    chosen = HospitalSettings(**{**SURE, **settings})
    return [draw_patient(terms, background, ONTOLOGY, chosen, rng) for _ in range(n)]


def test_a_patient_shows_each_phenotype_with_the_inclusion_rate():
    shown = np.mean([len(patient) for patient in draw(2000, inclusion=0.2)]) / len(SIGNS)
    assert shown == pytest.approx(0.2, abs=0.01)


def test_a_patient_shows_at_least_one_phenotype():
    patients = draw(200, inclusion=0.0)
    assert {len(patient) for patient in patients} == {1}
    assert len(set(patients)) > 20  # and not always the same one


def test_imprecision_climbs_by_chance_and_stops_below_the_top():
    recorded = [patient[0] for patient in draw(4000, terms=SIGNS[:1], imprecision=0.4)]
    share = {term: recorded.count(term) / len(recorded) for term in set(recorded)}
    assert share.keys() == {SIGNS[0], "part", "other part", "organ"}
    assert share[SIGNS[0]] == pytest.approx(0.6, abs=0.03)
    assert share["organ"] == pytest.approx(0.4**2, abs=0.03)
    assert share["part"] == pytest.approx(share["other part"], abs=0.03)


def test_unrelated_findings_come_in_the_number_and_shares_asked_for():
    background = [f"finding {number}" for number in range(5000)] + ["frequent"] * 5000
    patients = draw(1000, terms=["sign 0"], background=background, noise=3.0)
    findings = [term for patient in patients for term in patient if term != "sign 0"]
    assert sum("frequent" in patient for patient in patients) / 1000 == pytest.approx(1 - np.exp(-1.5), abs=0.05)
    assert len([term for term in findings if term != "frequent"]) / 1000 == pytest.approx(1.5, abs=0.15)


ANNOTATIONS = {f"OMIM:{number}": SIGNS[number : number + 3] for number in range(20)} | {"OMIM:few": SIGNS[:2]}
SMALL = HospitalSettings(n_diseases=12, fewest_terms=3, n_training=200, n_calibration=3000, n_test=3000)


@pytest.fixture(scope="module")
def hospital() -> Hospital:
    return draw_hospital(ANNOTATIONS, ONTOLOGY, SMALL)


def test_a_hospital_has_the_patients_asked_for_and_trains_on_every_disease(hospital):
    assert np.bincount(hospital.part).tolist() == [200, 3000, 3000]
    assert len(hospital) == len(hospital.patients) == 6200
    assert set(hospital.labels[hospital.part == 0]) == set(range(12))
    assert "OMIM:few" not in hospital.diseases


def test_prevalence_is_long_tailed_and_the_same_in_calibration_and_test(hospital):
    expected = 1 / np.arange(1, 13)
    for part in (1, 2):
        shares = np.bincount(hospital.labels[hospital.part == part], minlength=12) / 3000
        np.testing.assert_allclose(shares, expected / expected.sum(), atol=0.03)


def test_a_seed_gives_the_same_patients_and_another_seed_others(hospital):
    again = draw_hospital(dict(reversed(ANNOTATIONS.items())), ONTOLOGY, SMALL)
    assert again.patients == hospital.patients
    assert again.diseases == hospital.diseases
    other = draw_hospital(ANNOTATIONS, ONTOLOGY, HospitalSettings(**{**vars(SMALL), "seed": 1}))
    assert other.patients != hospital.patients
    assert other.diseases != hospital.diseases


def test_too_few_diseases_are_named():
    with pytest.raises(InputError, match="only 20 diseases have at least 3 phenotypes"):
        choose_diseases(ANNOTATIONS, HospitalSettings(fewest_terms=3), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"inclusion": 1.5}, "inclusion is 1.5"),
        ({"imprecision": 1.0}, "imprecision must be below 1"),
        ({"noise": -1.0}, "noise is -1"),
        ({"n_training": 299}, "n_training is 299"),
        ({"n_test": 0}, "n_test is 0"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        HospitalSettings(**settings)
