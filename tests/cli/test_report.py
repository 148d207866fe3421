import json

import pytest

pytestmark = pytest.mark.needs("typer", "pyarrow", "vl_convert")


def test_a_page_is_written_and_its_accuracies_are_those_of_evaluate(repair, data, fitted, tmp_path):
    out = tmp_path / "report.html"
    done = repair("report", fitted, data / "calibration.csv", data / "test.csv", "-o", out, "--rows", 5, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["report"] == str(out)
    assert found["rows_shown"] == 5
    assert "of 200 test rows" in found["sentences"][0]
    assert {"long_tail", "frontier", "coverage"} <= set(found["pictures"])
    page = out.read_text(encoding="utf-8")
    assert "class 03" in page
    assert "of 5 of 200 test rows" in page
    told = json.loads(repair("evaluate", fitted, data / "test.csv", "--json").out)
    assert f"on {100 * told['model']['unconditional']['hit@1']:.1f} % of 200 test rows" in found["sentences"][0]
    assert f"the base order on {100 * told['base']['unconditional']['hit@1']:.1f} %" in found["sentences"][0]


def test_fit_writes_one_too_and_its_gain_is_the_one_that_is_printed(repair, data, tmp_path):
    files = ("-o", tmp_path / "m.safetensors", "--report", tmp_path / "r.html", "--figures", tmp_path / "figures")
    options = ("--classes", data / "classes.csv", "--mode", "classwise", "--json")
    done = repair("fit", data / "calibration.csv", *files, *options)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["report"] == str(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert f"{100 * found['verdict']['overall']['gain']:+.1f} points" in page
    assert "This file contains no single rows" in page
    assert (tmp_path / "figures" / "frontier.svg").exists()


def test_texts_come_from_a_column_and_only_with_rows(repair, data, fitted, tmp_path):
    lines = (data / "test.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "test.csv").write_text(
        "\n".join([f"{lines[0]},note", *(f"{one},a tale" for one in lines[1:])]) + "\n", encoding="utf-8"
    )
    command = ("report", fitted, data / "calibration.csv", tmp_path / "test.csv", "-o", tmp_path / "r.html")
    refused = repair(*command, "--text-column", "note")
    assert (refused.code, (tmp_path / "r.html").exists()) == (2, False)
    assert "--rows" in refused.err
    refused = repair(*command, "--rows", 3, "--text-column", "nothing")
    assert refused.code == 2
    assert "no column 'nothing' with one text per row" in refused.err
    assert "'note'" in refused.err
    done = repair(*command, "--rows", 3, "--text-column", "note")
    assert done.code == 0, done.err
    assert (tmp_path / "r.html").read_text(encoding="utf-8").count("a tale") == 3
    assert f"Wrote {tmp_path / 'r.html'}." in done.out


def test_what_cannot_be_is_refused_before_the_fit(repair, data, fitted, tmp_path):
    calibration = data / "calibration.csv"
    before = calibration.read_bytes()
    out = ("-o", tmp_path / "m.safetensors")
    commands = {
        "would be overwritten": ("report", fitted, calibration, "-o", calibration),
        "No such file or directory": ("report", fitted, calibration, "-o", tmp_path / "no" / "r.html"),
        "--out and --report are both": ("fit", calibration, *out, "--report", tmp_path / "m.safetensors"),
        "--rows only applies to a report": ("fit", calibration, *out, "--rows", 3),
    }
    for message, command in commands.items():
        done = repair(*command)
        assert done.code == 2, message
        assert message in done.err
    assert calibration.read_bytes() == before
    assert not list(tmp_path.iterdir())


def test_a_missing_extra_is_named(repair, data, fitted, tmp_path, monkeypatch):
    monkeypatch.setattr("repair.report.page.find_spec", lambda name: None)
    done = repair("report", fitted, data / "calibration.csv", "-o", tmp_path / "r.html")
    assert done.code == 2
    assert "needs the extra 'report'" in done.err


def test_test_rows_that_were_fitted_are_recognised(repair, data, fitted, tmp_path):
    done = repair("report", fitted, data / "calibration.csv", data / "calibration.csv", "-o", tmp_path / "r.html")
    assert done.code == 0, done.err
    assert "rows that the model was fitted on" in done.err
