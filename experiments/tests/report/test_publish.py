"""The pages that are written from a folder of results."""

import gzip
import json

import pytest

from repair import InputError
from repair_bench.report.publish import pages, publish
from repair_bench.report.reading import read_results


def test_results_come_in_the_order_of_the_list_and_studies_apart(folder, make_result):
    (folder / "zzz.json").write_text(json.dumps(make_result("zzz")))
    (folder / "case.json").write_text(json.dumps({"study": "case"}))
    (folder / "other.json").write_text("{}")  # not ours
    found = read_results(folder)
    assert list(found.benchmarks) == ["massive", "few_tk", "zzz"]
    assert list(found.studies) == ["case"]
    assert list(read_results(folder, ["few_tk"]).benchmarks) == ["few_tk"]


@pytest.mark.parametrize(("text", "said"), [("{", "is not JSON"), ("[]", "is not the result of a run")])
def test_a_broken_file_is_named(folder, text, said):
    (folder / "broken.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"broken\.json {said}"):
        read_results(folder)


def test_compressed_results_are_read_too(folder):
    plain = read_results(folder)
    for path in list(folder.glob("*.json")):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert read_results(folder) == plain
    (folder / "broken.json.gz").write_bytes(gzip.compress(b"{}")[:-9])
    with pytest.raises(InputError, match=r"broken\.json\.gz is not JSON"):
        read_results(folder)


def test_a_result_that_is_not_there_is_named(folder, tmp_path):
    with pytest.raises(InputError, match="has no result of 'nobody'; there are massive, few_tk"):
        read_results(folder, ["nobody"])
    with pytest.raises(InputError, match="has no results"):
        read_results(tmp_path / "nowhere")


def test_there_is_a_summary_and_a_page_for_each_benchmark(folder):
    made = dict(pages(read_results(folder)))
    assert list(made) == ["README.md", "all-methods.md", "massive.md", "few_tk.md"]
    summary, page = made["README.md"], made["massive.md"]
    assert "repair 0.1.0; python 3.11, numpy 2.0" in summary
    assert "[massive](massive.md) · [few_tk](few_tk.md)" in summary
    assert "B(c=1.0)" in summary
    assert "methods build their own shortlists" not in summary  # nobody has any
    assert page.startswith("# massive: ")
    assert "`repair bench run massive --seed 3 --trials 2`" in page
    assert "40 (4 groups) calibration and 30 test rows" in page
    assert "Base model: B(c=1.0)." in page
    assert "Not real. Two rows left out." in page
    assert page.count("<details>") == page.count("</details>") == 10
    for text in made.values():
        assert "None" not in text
        assert "nan" not in text


def test_who_takes_its_own_shortlists_is_named(folder, own_list_result):
    (folder / "birds.json").write_text(json.dumps(own_list_result))
    summary = dict(pages(read_results(folder)))["README.md"]
    assert "build their own shortlists, so other rows are covered: Extended. They appear only" in summary


def test_what_a_result_lacks_is_left_out(folder, make_result):
    bare = make_result("massive")
    bare["methods"] = {"Base": {**bare["methods"]["Classwise"], "against": {}}}
    bare |= {"by_k": {}, "quintiles": {"not_applicable": "few"}, "published": {"base": None, "numbers": {}}}
    (folder / "massive.json").write_text(json.dumps(bare))
    (folder / "few_tk.json").unlink()
    page = dict(pages(read_results(folder)))["massive.md"]
    assert "Covered rows" in page
    assert "Sign tests over" not in page


def test_every_study_has_a_page_too(folder, tmp_path):
    record = {
        "study": "synthetic", "title": "Made up", "version": "0.1.0", "settings": {"quick": False}, "document": "# It\n"
    }  # fmt: skip
    (folder / "synthetic.json").write_text(json.dumps(record))
    written = publish(folder, tmp_path / "docs" / "results")
    assert [path.name for path in written] == ["README.md", "all-methods.md", "massive.md", "few_tk.md", "synthetic.md"]
    assert written[-1].read_text(encoding="utf-8") == "# It\n"
    assert "- [Made up](synthetic.md)" in written[0].read_text(encoding="utf-8")


def test_quick_runs_are_not_published(folder, make_result):
    quick = make_result("massive")
    quick["settings"]["quick"] = True
    (folder / "massive.json").write_text(json.dumps(quick))
    with pytest.raises(InputError, match=r"massive in .* come from quick runs"):
        publish(folder, folder / "pages")
    assert not (folder / "pages").exists()
