"""The document that is written from a folder of results."""

import json
from types import SimpleNamespace

import pytest

from repair import InputError
from repair.bench.report.publish import document, publish
from repair.bench.report.reading import read_results


def test_results_come_in_the_order_of_the_list_and_studies_apart(folder, make_result):
    (folder / "zzz.json").write_text(json.dumps(make_result("zzz")))
    (folder / "case.json").write_text(json.dumps({"study": "case"}))
    (folder / "other.json").write_text("{}")  # not ours
    found = read_results(folder)
    assert list(found.benchmarks) == ["massive", "few_tk", "zzz"]
    assert list(found.studies) == ["case"]
    assert list(read_results(folder, ["few_tk"]).benchmarks) == ["few_tk"]


@pytest.mark.parametrize(("text", "said"), [("{", "is not JSON"), ("[]", "is no result of a run")])
def test_a_broken_file_is_named(folder, text, said):
    (folder / "broken.json").write_text(text)
    with pytest.raises(InputError, match=rf"broken\.json {said}"):
        read_results(folder)


def test_a_result_that_is_not_there_is_named(folder, tmp_path):
    with pytest.raises(InputError, match="has no result of 'nobody'; there are massive, few_tk"):
        read_results(folder, ["nobody"])
    with pytest.raises(InputError, match="holds no results"):
        read_results(tmp_path / "nowhere")


def test_the_document_has_an_overview_and_a_section_for_each(folder):
    text = document(read_results(folder))
    assert "repair 0.1.0; python 3.11, numpy 2.0" in text
    assert text.index("## Overview") < text.index("## massive: ") < text.index("## few_tk: ")
    assert "`repair bench run massive --seed 3 --trials 2`" in text
    assert "40 (4 groups) calibration and 30 test rows" in text
    assert "Base: B(c=1.0)." in text
    assert "Not real. Two rows left out." in text
    assert text.count("<details>") == text.count("</details>") == 24
    assert "shortlists of their own" not in text  # nobody does
    assert "None" not in text
    assert "nan" not in text


def test_who_takes_its_own_shortlists_is_named(folder, own_list_result):
    (folder / "birds.json").write_text(json.dumps(own_list_result))
    assert "their covered rows are other rows: extended. They are left out" in document(read_results(folder))


def test_what_a_result_lacks_is_left_out(folder, make_result):
    bare = make_result("massive")
    bare["methods"] = {"Base": {**bare["methods"]["Classwise"], "against": {}}}
    bare |= {"by_k": {}, "quintiles": {"not_applicable": "few"}, "published": {"base": None, "numbers": {}}}
    (folder / "massive.json").write_text(json.dumps(bare))
    (folder / "few_tk.json").unlink()
    text = document(read_results(folder))
    assert "## massive: " in text
    assert "Sign tests over" not in text


def test_the_synthetic_study_gets_its_own_document(folder, tmp_path):
    record = {"study": "synthetic", "version": "0.1.0", "settings": {"quick": False}, "document": "# Made up\n"}
    (folder / "synthetic.json").write_text(json.dumps(record))
    written = publish(folder, tmp_path / "docs" / "results.md")
    assert [path.name for path in written] == ["results.md", "results-synthetic.md"]
    assert written[1].read_text() == "# Made up\n"
    assert "[results-synthetic.md](results-synthetic.md)" in written[0].read_text()


def test_quick_runs_are_not_published(folder, make_result):
    quick = make_result("massive")
    quick["settings"]["quick"] = True
    (folder / "massive.json").write_text(json.dumps(quick))
    with pytest.raises(InputError, match=r"massive in .* come from quick runs"):
        publish(folder, folder / "results.md")
    assert not (folder / "results.md").exists()


def test_studies_write_their_own_sections(folder, monkeypatch):
    (folder / "case.json").write_text(json.dumps({"study": "case"}))
    studies = SimpleNamespace(section=lambda record: f"## The study {record['study']}\n")
    monkeypatch.setattr("repair.bench.report.publish.study_module", lambda: studies)
    assert document(read_results(folder)).endswith("## The study case\n")
    monkeypatch.setattr("repair.bench.report.publish.study_module", lambda: None)
    assert "study case" not in document(read_results(folder))
