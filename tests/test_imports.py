"""What a service pays for importing, loading and reranking."""

import subprocess
import sys

import pytest

from repair import Reranker

PROGRAM = """
import sys
import repair
model = repair.load(sys.argv[1])
ranking = model.rerank([[float(i % 7) for i in range(20)]])
assert ranking.ids.shape == (1, 6)
assert len(model.rerank_one({3: 0.5, 1: 0.25})) == 2
model.predict([[1.0] * 20]); model.predict_proba([[1.0] * 20]); str(model.explain([1.0] * 20))
ours = {name.partition(".")[0] for name in sys.modules}
print(sorted(ours - set(sys.stdlib_module_names) - {"__main__"}))
"""


@pytest.fixture
def saved(problem, tmp_path):
    path = tmp_path / "model.safetensors"
    Reranker("pairwise", n_candidates=problem.k, shrinkage="eb").fit(
        problem.scores, problem.labels, **problem.optional_fields
    ).save(path)
    return path


def test_importing_loading_and_reranking_a_row_need_numpy_and_safetensors_only(saved):
    done = subprocess.run([sys.executable, "-I", "-c", PROGRAM, str(saved)], capture_output=True, text=True, check=True)
    modules = eval(done.stdout)  # a list of names that our own program printed
    assert set(modules) - {name for name in modules if name.startswith(("_", "sitecustomize"))} == {
        "numpy",
        "repair",
        "safetensors",
    }


def test_import_alone_is_lighter_still():
    done = subprocess.run(
        [sys.executable, "-I", "-c", "import sys, repair; print('numpy' in sys.modules, repair.__version__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[0] == "False"


def test_every_public_name_is_there_and_documented():
    import repair

    for name in repair.__all__:
        if name != "__version__":
            assert getattr(repair, name).__doc__, name
    assert set(repair.__all__) - {"__version__"} == set(repair._HOME)
    assert set(repair.__all__) <= set(dir(repair))
    with pytest.raises(AttributeError, match="has no attribute 'Rerankr'"):
        repair.Rerankr  # noqa: B018


def test_versions_agree(repository):
    import tomllib

    import repair

    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == repair.__version__
    citation = (repository / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {repair.__version__}" in citation
