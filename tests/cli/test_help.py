import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.needs("typer")

COMMANDS = (
    "demo",
    "example",
    "diagnose",
    "fit",
    "rerank",
    "serve",
    "evaluate",
    "monitor",
    "compare",
    "explain",
    "report",
    "inspect",
)
PROGRAM = [sys.executable, "-c", "from repair.cli import main; main()"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(repair, command):
    done = repair(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert f"Example: repair {command} " in done.out
    assert f"  {command} " in repair("--help").out.replace("│", " ")


def test_examples_name_options_that_exist(repair):
    for command in COMMANDS:
        text = repair(command, "--help").out
        example = re.search(r"Example: (.*)", text)[1]
        body = text.replace(example, "")
        for option in re.findall(r"(?<= )--?[a-z][a-z-]*", example):
            assert option in body, (command, option)


def test_help_needs_nothing_heavy():
    program = (
        "import sys\nfrom repair.cli import run\ncode = run(['--help'])\n"
        "print(code, sorted({'numpy', 'pyarrow', 'numba', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


def test_completion_of_commands_and_options():
    def complete(words):
        environment = {**os.environ, "_REPAIR_COMPLETE": "complete_bash", "COMP_WORDS": words}
        environment["COMP_CWORD"] = str(len(words.split()) - 1)
        return subprocess.run(PROGRAM, capture_output=True, text=True, env=environment).stdout.split()

    assert complete("repair exp") == ["explain"]
    assert complete("repair fit --head") == ["--head-loss"]
    shown = subprocess.run(
        PROGRAM, capture_output=True, text=True, env={**os.environ, "_REPAIR_COMPLETE": "source_bash"}
    )
    assert "_repair_completion" in shown.stdout


def test_no_colour_where_none_is_wanted():
    environment = {**os.environ, "NO_COLOR": "1", "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    done = subprocess.run([*PROGRAM, "fit", "--help"], capture_output=True, text=True, env=environment)
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", done.stdout)
    assert "--head-loss" in re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
