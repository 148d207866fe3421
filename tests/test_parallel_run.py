"""`make test` runs the tests in several processes; what the end of the run says must not depend on that."""

import os
import re
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.needs("xdist")

SKIPPED = """
import pytest

@pytest.mark.needs("no_such_module")
def test_{number}():
    pass

def test_that_runs():
    pass
"""


def test_skipped_tests_are_listed_once(repository, tmp_path):
    shutil.copy(repository / "conftest.py", tmp_path)
    for number in range(4):
        (tmp_path / f"test_{number}.py").write_text(SKIPPED.format(number=number), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    needs(*modules): \n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("4 skipped: needs no_such_module") == 1
    for number in range(4):
        assert done.stdout.count(f"    test_{number}.py::test_{number}\n") == 1


def test_few_random_examples_by_default_and_many_with_all_extras(repository):
    from hypothesis import settings

    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    light, every = (re.search(rf"^profile_{name} := (\w+)$", makefile, re.MULTILINE)[1] for name in ("light", "all"))
    assert settings.get_profile(light).max_examples < settings.get_profile(every).max_examples
    chosen = os.environ.get("HYPOTHESIS_PROFILE", light)
    assert settings().max_examples == settings.get_profile(chosen).max_examples
