"""The command line puts remedies into its own words by their codes, never by looking for words in sentences."""

import re

import pytest

from repair import load
from repair.cli import run
from repair.cli.remedies import SENTENCES, in_options
from repair.errors import InputError, Remedy, pass_to_fit


@pytest.mark.parametrize("argument", ["class_counts", "similarity", "weight_norms", "embeddings"])
def test_what_is_passed_to_fit_has_an_option(argument):
    error = InputError(f"something needs {argument}", pass_to_fit(argument))
    assert f"pass {argument}=… to fit" in str(error)
    assert f"{argument}=" not in in_options(error)
    assert "--" in in_options(error)


def test_a_remedy_survives_the_name_of_the_file():
    error = InputError("there is no label column", Remedy("name-column", "name it with ColumnNames(label=…)", "label"))
    assert in_options(error.within("scores.csv")) == "scores.csv: there is no label column; name it with --label-column"
    assert error.within("scores.csv").code == "name-column"


def test_an_unknown_code_keeps_the_words_for_python():
    assert in_options(InputError("wrong", Remedy("new-code", "do this"))) == "wrong; do this"
    assert in_options(InputError("wrong; do that")) == "wrong; do that"


def test_every_code_of_the_library_is_known_here(repository):
    """A remedy that reads differently in Python must be translated; one that does not needs no code."""
    used = set()
    for source in (repository / "src" / "repair").rglob("*.py"):
        used |= set(re.findall(r'Remedy\(\s*"([a-z-]+)"', source.read_text(encoding="utf-8")))
    assert used
    assert used == set(SENTENCES)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--mode", "auto", "--tau", "1"], "mode 'auto' does not use tau; drop --tau, or use --mode pairwise"),
        (["--mode", "auto", "--lambda-a", "1"], "chooses lambda_a itself; drop --lambda-a, or use another --mode"),
        (["--mode", "published", "--tau", "1"], "chooses tau itself; drop --tau, or use --mode pairwise"),
        (["--mode", "pairwise", "--tuning", "cv", "--tau", "1"], "but tau=1.0; drop --tau or --tuning"),
        (["--mode", "pairwise", "--shrinkage", "foo"], "shrinkage is 'foo'; choose one of none, eb, paper"),
        (["--mode", "pairwise", "--tuning", "foo"], "tuning is 'foo'; choose one of evidence, cv, in_sample"),
        (["--mode", "classwise", "--terms", "rank_gap"], "drop --terms, or use --mode pairwise"),
        (["--mode", "pairwise", "--terms", "head"], "leave it out of --terms, or use --mode extended"),
    ],
)
def test_parameters_are_called_options(data, tmp_path, capsys, options, said):
    files = [str(data / "calibration.csv"), "--classes", str(data / "classes.csv"), "-o", str(tmp_path / "model")]
    assert run(["fit", *files, *options]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_shrinkage_can_be_switched_off(data, tmp_path):
    files = [str(data / "calibration.csv"), "--classes", str(data / "classes.csv"), "-o", str(tmp_path / "model")]
    assert run(["fit", *files, "--mode", "classwise", "--shrinkage", "none"]) == 0
    assert load(tmp_path / "model").shrinkage_ is None


def test_a_model_without_counts_must_be_fitted_again_for_a_dial(data, tmp_path, capsys):
    model, test = str(tmp_path / "model"), str(data / "test.csv")
    assert run(["fit", str(data / "calibration.csv"), "-o", model, "--mode", "classwise"]) == 0
    capsys.readouterr()
    assert run(["rerank", model, test, "-o", str(tmp_path / "ranked.csv"), "--dial", "1"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "was fitted without; fit the model again: give --classes with a column 'count' to repair fit" in said
