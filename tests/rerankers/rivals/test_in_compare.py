"""The rivals that are cheap enough for `compare`."""

import numpy as np
import pytest
from typer.testing import CliRunner

from repair import compare
from repair.cli.app import build_app
from repair.errors import ArtifactError, InputError
from repair.rerankers.methods import METHODS, make_method

RIVALS = [name for name, method in METHODS.items() if method.rival]


def test_rivals_take_part_in_a_comparison(world):
    calibration, test = world.rows(300), world.rows(200)
    methods = {name: make_method(name, 3) for name in ("base", *RIVALS)}
    found = compare(methods, calibration, test, trials=2, resamples=50)
    assert all(found.full[name]["accuracy"] > 0.5 for name in RIVALS)
    assert all(name in str(found) or METHODS[name].title in str(found) for name in RIVALS)


@pytest.mark.parametrize("name", [name for name in RIVALS if METHODS[name].needs])
def test_a_rival_without_its_embeddings_says_so(name, world):
    rows = world.rows(100)
    with pytest.raises(InputError, match="embeddings"):
        make_method(name, 3).fit(rows.scores, rows.labels)


def test_a_rival_cannot_be_saved(world, tmp_path):
    rows = world.rows(100)
    model = make_method("vector_scaling", 3).fit(rows.scores, rows.labels)
    with pytest.raises(ArtifactError, match="cannot be saved"):
        model.save(tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


def test_fit_on_the_command_line_refuses_rivals_and_compare_takes_them(world, tmp_path):
    files = []
    for name in ("calibration", "test"):
        rows = world.rows(120)
        files.append(str(tmp_path / f"{name}.npz"))
        np.savez(files[-1], scores=rows.scores, labels=rows.labels)
    run = CliRunner()
    refused = run.invoke(build_app(), ["fit", files[0], "--mode", "gda", "-o", str(tmp_path / "m.safetensors")])
    assert isinstance(refused.exception, InputError)
    assert "repair compare" in str(refused.exception)
    done = run.invoke(build_app(), ["compare", *files, "--methods", "base,vector_scaling", "--trials", "1"])
    assert done.exit_code == 0, done.output
    assert "Vector scaling" in done.output
