"""CSV files as people have them: German columns, semicolons, decimal commas, one column per rank."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

from repair import Reranker, load
from repair.io import ColumnNames, CsvFormat, read_class_table, read_score_set

NAMES = ["Äpfel", "Birnen", "Kirschen", "Pflaumen", "Quitten", "Zwetschgen"]
GERMAN = (
    "--row-column",
    "Anfrage",
    "--candidate-column",
    "Klasse",
    "--score-column",
    "Punkte",
    "--label-column",
    "Wahr",
)


def draw(n=150, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 6, size=n)
    return rng.normal(size=(n, 6)) + 2 * np.eye(6)[labels] + [2, 1, 0, 0, 0, 0], labels


def write_german(path, seed=0, delimiter=";", decimal=",", listed=5):
    scores, labels = draw(seed=seed)
    lines = [["Anfrage", "Klasse", "Punkte", "Wahr"]]
    for row, (values, label) in enumerate(zip(scores, labels, strict=True)):
        for c in np.argsort(-values)[:listed]:
            lines.append([f"a{row}", NAMES[c], f"{values[c]:.4f}".replace(".", decimal), NAMES[label]])
    with open(path, "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, delimiter=delimiter).writerows(lines)
    return path


@pytest.fixture
def german(tmp_path):
    table = "Klasse;Anzahl\n" + "".join(f"{name};{100 - 10 * i}\n" for i, name in enumerate(NAMES))
    (tmp_path / "klassen.csv").write_text(table, encoding="utf-8")
    write_german(tmp_path / "eichung.csv")
    write_german(tmp_path / "pruefung.csv", seed=1)
    return tmp_path


def test_a_german_file_goes_through_every_command_and_keeps_its_names(german, repair):
    classes = ("--classes", german / "klassen.csv", "--class-column", "Klasse", "--count-column", "Anzahl")
    model, test = german / "m.safetensors", german / "pruefung.csv"
    done = repair("fit", german / "eichung.csv", "-o", model, "--mode", "classwise", *GERMAN, *classes)
    assert done.code == 0, done.err
    assert load(model).class_counts_.tolist() == [100, 90, 80, 70, 60, 50]
    assert load(model).state.columns == {"row": "Anfrage", "candidate": "Klasse", "score": "Punkte", "label": "Wahr"}
    # the model remembers the names, so they need not be given again
    assert repair("evaluate", model, test).code == 0
    assert repair("explain", model, test, "--row", "a3").code == 0
    assert repair("rerank", model, test, "-o", german / "neu.csv").code == 0
    header = (german / "neu.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.replace('"', "").split(",")[:5] == ["Anfrage", "Wahr", "rank", "Klasse", "candidate_id"]
    assert "Punkte" in header
    again = repair("rerank", model, german / "neu.csv", "-o", german / "neuer.csv")
    assert again.code == 2
    assert "written by rerank" in again.err
    done = repair("rerank", model, german / "neu.csv", "-o", german / "neuer.csv", "--score-column", "base_score")
    assert done.code == 0, done.err


@pytest.mark.parametrize(("delimiter", "decimal"), [(";", ","), (";", "."), ("\t", "."), ("|", "."), (",", ".")])
def test_the_delimiter_is_recognised_and_scores_are_the_same(tmp_path, delimiter, decimal):
    path = write_german(tmp_path / "x.csv", delimiter=delimiter, decimal=decimal)
    columns = ColumnNames("Anfrage", "Klasse", "Punkte", "Wahr")
    read = read_score_set(path, columns=columns, class_names=NAMES)
    expected = np.sort(draw()[0], axis=1)[:, ::-1][:, :5]
    np.testing.assert_allclose(read.rows.scores.scores, expected, atol=1e-4)


def test_delimiter_and_decimal_can_be_said(tmp_path, repair):
    path = write_german(tmp_path / "x.tsv", delimiter="\t", decimal=",")
    columns = ColumnNames("Anfrage", "Klasse", "Punkte", "Wahr")
    read = read_score_set(path, columns=columns, class_names=NAMES, csv_format=CsvFormat(decimal=","))
    assert read.rows.scores.scores[0, 0] == pytest.approx(draw()[0][0].max(), abs=1e-4)
    without = repair("fit", path, "-o", tmp_path / "m.safetensors", *GERMAN)
    assert without.code == 2
    assert "say that the decimal sign is a comma (CsvFormat(decimal=','), --decimal ,)" in without.err
    done = repair("fit", path, "-o", tmp_path / "m.safetensors", "--mode", "base", "--decimal", ",", *GERMAN)
    assert done.code == 0, done.err
    path.write_text("a:b:1,5\n")
    wrong = repair("fit", path, "-o", tmp_path / "m.safetensors", "--delimiter", "::")
    assert "delimiter is '::'; pass one character" in wrong.err


def test_separators_between_thousands_are_refused(tmp_path):
    (tmp_path / "c.csv").write_text("class;count\na;1.234,5\nb;3\n")
    with pytest.raises(ValueError, match=r"is '1\.234,5'; write a number without separators between thousands"):
        read_class_table(tmp_path / "c.csv")
    (tmp_path / "c.csv").write_text("class;count\na;1234,5\nb;3\n")
    assert read_class_table(tmp_path / "c.csv").counts.tolist() == [1234.5, 3]


@pytest.mark.parametrize(
    ("candidate", "score", "options"),
    [("pred{}", "conf{}", ()), ("Label_{}", "Score_{}", ()),
     ("Tipp{}", "Wert{}", ("--candidate-column", "Tipp*", "--score-column", "Wert*"))],
)  # fmt: skip
def test_one_column_per_rank_is_read_as_lists(tmp_path, repair, candidate, score, options):
    scores, labels = draw()
    header = ["id", *(name.format(r) for r in range(1, 4) for name in (candidate, score)), "truth"]
    lines = [",".join(header)]
    for row, (values, label) in enumerate(zip(scores, labels, strict=True)):
        best = np.argsort(-values)[: 3 if row else 2]  # the first row has an empty third place
        cells = [cell for c in best for cell in (NAMES[c], f"{values[c]:.4f}")]
        lines.append(",".join([str(row), *cells, *[""] * (6 - len(cells)), NAMES[label]]))
    (tmp_path / "w.csv").write_text("\n".join(lines), encoding="utf-8")
    done = repair("fit", tmp_path / "w.csv", "-o", tmp_path / "m.safetensors", "--mode", "classwise", *options)
    assert done.code == 0, done.err
    assert load(tmp_path / "m.safetensors").state.n_candidates == 3
    columns = ColumnNames(candidate=options[1], score=options[3]) if options else None
    read = read_score_set(tmp_path / "w.csv", columns=columns)
    assert read.layout == "candidates"
    assert read.rows.scores.lengths.tolist() == [2] + [3] * 149
    expected = Reranker("classwise", n_candidates=3).fit(read.rows).predict(read.rows)
    assert load(tmp_path / "m.safetensors").predict(read.rows).tolist() == expected.tolist()


def test_a_rank_without_score_is_refused(tmp_path):
    (tmp_path / "w.csv").write_text("pred1,conf1,pred2,conf2,label\na,1,b,,a\n")
    with pytest.raises(ValueError, match="line 2, column 'conf2' is empty, but 'pred2' is not; write a score"):
        read_score_set(tmp_path / "w.csv")


def test_n_candidates_limits_a_long_file(german, repair):
    model = german / "m.safetensors"
    done = repair("fit", german / "eichung.csv", "-o", model, "--mode", "classwise", "--n-candidates", "3", *GERMAN)
    assert done.code == 0
    assert "rows have up to 5 candidates; the best 3 of each row are used" in done.err
    assert repair("rerank", model, german / "pruefung.csv", "-o", german / "out.csv").code == 0
    assert len((german / "out.csv").read_text(encoding="utf-8").splitlines()) == 1 + 3 * 150


def test_rows_without_a_label_are_left_out_and_named(german, repair):
    model, test = german / "m.safetensors", german / "pruefung.csv"
    assert repair("fit", german / "eichung.csv", "-o", model, "--mode", "classwise", *GERMAN).code == 0
    whole = repair("evaluate", model, test)
    text = test.read_text(encoding="utf-8")
    extra = "".join(f"neu{i};{NAMES[0]};1,5;\n" for i in range(40))
    test.write_text(text + extra, encoding="utf-8")
    done = repair("evaluate", model, test)
    assert "left out, because they have no label: 40 of 190 rows (neu0, neu1, neu2, …)" in done.err
    assert done.out == whole.out
    assert repair("rerank", model, test, "-o", german / "out.csv").code == 0
    assert "neu39" in (german / "out.csv").read_text(encoding="utf-8")  # reranking needs no labels


def test_inspect_says_what_a_person_wants_to_know_first(german, repair):
    done = repair("inspect", german / "eichung.csv", "--json", *GERMAN)
    found = json.loads(done.out)
    scores, labels = draw()
    assert (found["layout"], found["rows"], found["classes"], found["score_type"]) == ("long", 150, 6, "logits")
    assert found["base_accuracy"] == pytest.approx((scores.argmax(axis=1) == labels).mean())
    worst = (scores.argmin(axis=1) == labels).mean()
    assert found["coverage"] == {"at 5": pytest.approx(1 - worst)}
    assert found["labelled_rows"] == 150
    assert found["problems"] == []
    table = german / "dense.csv"
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    lines = [",".join([*(f"{share:.3f}" for share in row), NAMES[(label + 1) % 6]])
             for row, label in zip(shares, labels, strict=True)]  # fmt: skip
    table.write_text("\n".join([",".join([*NAMES, "label"]), *lines]), encoding="utf-8")
    found = repair("inspect", table)
    assert "probabilities" in found.out
    assert "labels seem to be shifted" in found.out or "different class orders" in found.out


def test_a_pipe_can_be_input_and_output(german):
    model, test = german / "m.safetensors", german / "pruefung.csv"
    command = [sys.executable, "-c", "from repair.cli.entry import main; main()"]
    fit = [*command, "fit", "-", "-o", model, "--mode", "classwise", *GERMAN]
    subprocess.run(fit, input=(german / "eichung.csv").read_bytes(), check=True, capture_output=True)
    done = subprocess.run(
        [*command, "rerank", model, "-", "-o", "-"], input=test.read_bytes(), check=True, capture_output=True
    )
    lines = done.stdout.decode("utf-8").splitlines()
    assert len(lines) == 1 + 5 * 150
    assert "Klasse" in lines[0]
    assert b"note: reranked 150 rows" in done.stderr


def test_percentages_give_the_figures_of_their_logarithms(tmp_path, repair):
    scores, labels = draw()
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    outputs = []
    for name, values in (("logs", np.log(shares)), ("percent", 100 * shares)):
        for part, rows in (("a", slice(0, 100)), ("b", slice(100, 150))):
            np.savez(tmp_path / f"{name}-{part}.npz", scores=values[rows], labels=labels[rows])
        model = tmp_path / f"{name}.safetensors"
        assert repair("fit", tmp_path / f"{name}-a.npz", "-o", model, "--mode", "classwise").code == 0
        outputs.append(json.loads(repair("evaluate", model, tmp_path / f"{name}-b.npz", "--json").out))
        done = repair("rerank", model, tmp_path / f"{name}-b.npz", "-o", tmp_path / "r.csv", "--layout", "long")
        assert done.code == 0
        with open(tmp_path / "r.csv", encoding="utf-8") as stream:
            first = next(csv.DictReader(stream))
        assert float(first["base_score"]) == pytest.approx(values[100, int(first["candidate_id"])])
    assert outputs[0]["base"]["conditional"]["nll"] == pytest.approx(outputs[1]["base"]["conditional"]["nll"])
    assert outputs[0]["model"]["unconditional"] == pytest.approx(outputs[1]["model"]["unconditional"])


@pytest.mark.needs("openpyxl")
def test_workbooks_are_read_and_written_like_csv(german, repair, monkeypatch):
    """Numbers of a German workbook are numbers, so they have no decimal comma."""
    import io

    import openpyxl

    for name in ("eichung", "pruefung", "klassen"):
        book = openpyxl.Workbook()
        with open(german / f"{name}.csv", encoding="utf-8", newline="") as stream:
            for row, cells in enumerate(csv.reader(stream, delimiter=";")):
                numbers = row and cells[-2 if name != "klassen" else -1]
                book.active.append([float(cell.replace(",", ".")) if cell == numbers else cell for cell in cells])
        book.save(german / f"{name}.xlsx")
    classes = ("--class-column", "Klasse", "--count-column", "Anzahl")
    names, written = ColumnNames("Anfrage", "Klasse", "Punkte"), {}
    for ending in ("csv", "xlsx"):
        model, test, out = german / f"{ending}.safetensors", german / f"pruefung.{ending}", german / f"out.{ending}"
        table = ("--classes", german / f"klassen.{ending}", *classes)
        done = repair("fit", german / f"eichung.{ending}", "-o", model, "--mode", "classwise", *GERMAN, *table)
        assert done.code == 0, done.err
        assert repair("rerank", model, test, "-o", out).code == 0
        written[ending] = read_score_set(out, columns=names, need_labels=False)
    assert load(model).class_counts_.tolist() == [100, 90, 80, 70, 60, 50]
    np.testing.assert_array_equal(written["csv"].rows.scores.scores, written["xlsx"].rows.scores.scores)
    content = (german / "pruefung.xlsx").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert repair("rerank", model, "-", "-o", german / "piped.xlsx").code == 0
    piped = read_score_set(german / "piped.xlsx", columns=names, need_labels=False)
    np.testing.assert_array_equal(piped.rows.scores.scores, written["xlsx"].rows.scores.scores)
