"""The page about serving: its commands are run in order, and their answers are those that it shows."""

import json
import re
import shlex
import shutil
import subprocess

import pytest

from repair.cli import run

pytestmark = [
    pytest.mark.needs("typer", "fastapi", "uvicorn", "prometheus_client", "pyarrow"),
    pytest.mark.system("POSIX signals", "a POSIX shell"),
]


@pytest.fixture(scope="module")
def page(repository):
    return (repository / "docs" / "serving.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, page):
    """The files that the first commands of the page make."""
    folder = tmp_path_factory.mktemp("serving")
    commands = re.search(r"```bash\n(.*?)```", page, re.DOTALL)[1].splitlines()
    assert [command.split()[1] for command in commands] == ["example", "fit", "serve"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in commands[:2]:
            assert run(shlex.split(command)[1:]) == 0
    return folder


@pytest.fixture
def url(page, folder, start_program):
    """The address of a server that was started with the command of the page, on a free port."""
    command = re.search(r"^repair (serve .*) --port 8080$", page, re.MULTILINE)[1]
    program = "from repair.cli.entry import main; main()"
    process = start_program(program, *shlex.split(command), "--port", "0", cwd=folder)
    line = process.stdout.readline()
    yield re.search(r"http://\S+", line)[0]
    process.terminate()
    assert process.wait(120) == 0


def approximately(value):
    """Return an answer with four digits, and without the version, which changes with the last bits of a fit."""
    if isinstance(value, dict):
        return {name: approximately(one) for name, one in value.items() if "version" not in name}
    if isinstance(value, list):
        return [approximately(one) for one in value]
    return pytest.approx(value, abs=2e-4) if isinstance(value, float) else value


def test_requests_get_the_answers_that_are_shown(page, url):
    if shutil.which("curl") is None:
        pytest.skip("needs curl, which this system does not have")
    shown = re.findall(r"```bash\n(curl .*?)```.*?```json\n(.*?)```", page, re.DOTALL)
    assert len(shown) == 3
    for command, answer in shown:
        script = command.replace("http://127.0.0.1:8080", url)
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=120)
        assert approximately(json.loads(answer)) == strip(json.loads(done.stdout))


def strip(value):
    if isinstance(value, dict):
        return {name: strip(one) for name, one in value.items() if "version" not in name}
    return [strip(one) for one in value] if isinstance(value, list) else value


def test_python_blocks_run(page, url, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block.replace("http://127.0.0.1:8080", url), "serving.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("[['gift card balance', 'return an item', 'customs fees'], ['size advice', 'warranty")
    assert printed.endswith("[]\n")


def test_every_path_option_and_metric_is_on_the_page(page, folder, repair):
    from repair.serving import build_app
    from repair.serving.app import service_of

    app = build_app(folder / "model.safetensors")
    for path in app.openapi()["paths"]:
        assert path in page or path.startswith("/v2"), path
    text = service_of(app).metrics.text().decode()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        assert name in page or name.endswith("_created"), (name, kind)
    for option in set(re.findall(r"(--[a-z]+-[a-z]+)", repair("serve", "--help").out)):
        assert option in page, option
