"""What the documents say is run, and what they link to is there."""

import re

import pytest

DOCUMENTS = (
    "README.md",
    "docs/architecture.md",
    "docs/checks.md",
    "docs/files.md",
    "docs/method.md",
    "docs/similarity.md",
    "benchmarks/README.md",
    "tests/README.md",
)


def test_the_readme_snippets_run(repository, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (repository / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "gap_closure" in printed
    assert "cat" in printed


def test_the_similarity_snippet_runs(repository, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (repository / "docs/similarity.md").read_text(), re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], "similarity.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "0.67 1.   0.33" in printed
    assert "similarity" in printed


def test_the_readme_table_is_what_the_demo_prints(repository):
    from repair.bench.synthetic import make_synthetic
    from repair.demo import comparison_table, evaluate_methods

    results, _ = evaluate_methods(make_synthetic())
    assert comparison_table(results) in (repository / "README.md").read_text()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(repository, name):
    document = repository / name
    for target in re.findall(r"\]\((?!http)([^)#]+)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_make_targets_that_the_readme_names_exist(repository):
    makefile = (repository / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", (repository / "README.md").read_text(), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
