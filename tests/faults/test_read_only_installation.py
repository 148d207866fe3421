"""A package that its user may read and not write, as in a container or a system-wide installation."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import repair

#: Of Linux: the call that gives a privilege up for good, and the one by which root writes where nobody may.
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1

PROGRAM = """
import os, sys
from pathlib import Path
import numpy as np
import repair

site = Path(repair.__file__).parent
assert site.is_relative_to(sys.argv[1]), site
for folder in (site, site / "kernels" / "compiled", Path(os.environ["HOME"])):
    try:
        (folder / "probe").write_text("x")
    except OSError:
        continue
    sys.exit(f"{folder} can be written, so this would test nothing")

rng = np.random.default_rng(0)
labels = rng.integers(0, 40, size=2000)
scores = rng.normal(size=(2000, 40)) + 3.0 * np.eye(40)[labels]
model = repair.Reranker("classwise", n_candidates=5, lambda_a=0.01).fit(scores, labels)
many, one = model.rerank(scores), model.rerank(scores[:1])
assert "numba" in sys.modules and (many.ids[:1] == one.ids).all()
print(model.converged_, sorted(str(path) for path in Path(sys.argv[1]).rglob("*.nb?")))
"""


@pytest.fixture
def read_only_site():
    folder = Path(tempfile.mkdtemp(prefix="repair-site-"))
    home = folder / "home"
    home.mkdir()
    shutil.copytree(Path(repair.__file__).parent, folder / "repair", ignore=shutil.ignore_patterns("__pycache__"))
    everything = [folder, *folder.rglob("*")]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield folder
    for path in everything:
        path.chmod(0o755)
    shutil.rmtree(folder)


def give_up_root_writing():
    """Run in the child before its program: let permissions hold for root too."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


@pytest.mark.system("Linux capabilities")
def test_fitting_and_reranking_work_where_nothing_can_be_written(read_only_site):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(read_only_site)],
        env={**kept, "HOME": str(read_only_site / "home"), "PYTHONPATH": str(read_only_site)},
        cwd=read_only_site,
        capture_output=True,
        text=True,
        preexec_fn=give_up_root_writing,
    )
    assert done.stdout == "True []\n", done.stdout + done.stderr
