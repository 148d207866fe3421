"""The rules of the house that no linter knows."""

import ast
import re
import tomllib

import pytest

#: Rooms that use the others through their public names only.
SATELLITES = (
    "cli",
    "serving",
    "report",
    "demo",
    "integrations",
    "testing",
    "diagnosis",
    "comparison",
    "evaluation",
    "persistence",
)


def sources(repository, *rooms):
    folder = repository / "src" / "repair"
    return [path for room in rooms for path in (folder / room).rglob("*.py")]


def all_sources(repository):
    """Return the text of every module by its path in the repository."""
    return {
        path.relative_to(repository).as_posix(): path.read_text(encoding="utf-8")
        for folder in ("src", "experiments/src")
        for path in (repository / folder).rglob("*.py")
    }


def test_no_module_is_longer_than_four_hundred_lines(repository):
    sizes = {path: len(text.splitlines()) for path, text in all_sources(repository).items()}
    assert {path: size for path, size in sizes.items() if size > 400} == {}


def test_no_function_needs_scrolling(repository):
    """Sixty lines of code; docstrings and signatures do not count."""
    long = []
    for path, text in all_sources(repository).items():
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.FunctionDef):
                continue
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if body and body[-1].end_lineno - body[0].lineno >= 60 and "/kernels/" not in path:
                long.append(f"{path}: {node.name}")
    assert long == []


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def private_names(node):
    """Return the private names of others that a node uses or imports."""
    if isinstance(node, ast.Attribute):
        whose = node.value.id if isinstance(node.value, ast.Name) else None
        allowed = whose in ("self", "cls", "os", "np") or node.attr == "_asdict"  # a public method of named tuples
        return [node.attr] if is_private(node.attr) and not allowed else []
    if isinstance(node, ast.ImportFrom):
        imported = [f"{node.module or ''}.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.Import):
        imported = [alias.name for alias in node.names]
    else:
        return []
    # All rooms may use `repair._utils`, but not the private names in it.
    shared = [name.removeprefix("repair._utils") for name in imported]
    return [name for name, rest in zip(imported, shared, strict=True) if any(map(is_private, rest.split(".")))]


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("from repair.model.state import _check", ["repair.model.state._check"]),
        ("from repair._secret import name", ["repair._secret.name"]),
        ("import repair._secret.module", ["repair._secret.module"]),
        ("from repair._utils.arrays import _check", ["repair._utils.arrays._check"]),
        ("from . import _check", ["._check"]),
        ("model._check", ["_check"]),
        ("from repair._utils.arrays import FloatArray", []),
        ("from repair import _utils", []),
        ("from __future__ import annotations", []),
        ("row._asdict", []),
    ],
)
def test_private_names_are_seen(statement, names):
    assert [name for node in ast.walk(ast.parse(statement)) for name in private_names(node)] == names


@pytest.mark.parametrize("room", SATELLITES)
def test_satellites_use_public_names_only(repository, room):
    found = [
        f"{path.relative_to(repository)}:{node.lineno} {name}"
        for path in sources(repository, room)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in private_names(node)
    ]
    assert found == []


def test_extras_that_messages_name_exist(repository):
    """`pip install 'repair-rerank[name]'`, and "needs the extra 'name'"."""
    extras = {}
    for name, folder in (("repair-rerank", repository), ("repair-bench", repository / "experiments")):
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert project["name"] == name
        extras[name] = set(project["optional-dependencies"])
    named = []
    for text in all_sources(repository).values():
        for package, listed in re.findall(r"(repair-rerank|repair-bench)\[([^\]]*)\]", text):
            named += [(package, extra.strip()) for extra in listed.split(",")]
        named += [("repair-rerank", extra) for extra in re.findall(r"\bextra '([^']*)'", text)]
    assert len(named) > 5
    assert [(package, extra) for package, extra in named if extra not in extras[package]] == []


def test_modes_are_objects_and_not_compared_with_literals(repository):
    """What a mode does is in its own file; nobody else asks which one it is."""
    from repair.rerankers.modes import MODES

    found = []
    for path in (repository / "src" / "repair").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Compare) or "mode" not in ast.unparse(node):
                continue
            operands = [node.left, *node.comparators]
            operands += [one for group in operands if isinstance(group, ast.Tuple | ast.List) for one in group.elts]
            if any(isinstance(one, ast.Constant) and one.value in MODES for one in operands):
                found.append(f"{path.relative_to(repository)}:{node.lineno}")
    assert found == []


def test_nobody_asks_terms_what_they_are(repository):
    """Terms are used through their one interface, so a new one touches no other file."""
    found = []
    for path in sources(repository, "model", "fitting", "tuning", "persistence", "rerankers", *SATELLITES):
        text = path.read_text(encoding="utf-8")
        found += [path.name for name in ("Context", "Neighbours", "Head") if f"isinstance(term, {name}" in text]
        found += [path.name] * ("getattr(term" in text or "hasattr(term" in text)
    assert found == []
