"""The house stands: imports go one way, modules say what they are about, and help needs nothing heavy."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import regard

HOUSE = Path(regard.__file__).parent
FILES = sorted(HOUSE.rglob("*.py"))

# Who may import whom, beside itself; arrows are transitive. A dotted name stands apart from its package: a contract or
# a description that others may know although they may not know the rest.
ARROWS = {
    "__main__": ["cli"],
    "cli": ["commands", "flags", "usage"],
    "commands": ["demo", "open", "look", "training", "recipes", "data", "decoding", "stream", "printing", "usage"],
    "demo": ["open", "training"],
    "usage": ["flags"],
    "flags": ["data.source", "training.plan"],
    "serve": ["open", "look", "training"],
    "bench": ["open", "look", "training"],
    "open": ["recipes", "training"],
    "recipes": ["tasks", "models", "data", "training.plan", "training.recipe"],
    "training": ["tasks.task", "metrics.score", "training.plan", "training.recipe", "data.source"],
    "training.recipe": ["tasks.task", "training.plan"],
    "training.plan": [],
    "tasks": ["tasks.task", "data", "decoding", "metrics", "trace"],
    "tasks.task": ["metrics.score"],
    "models": ["layers", "attention", "state"],
    "interop": ["models"],
    "look": ["trace"],
    "layers": ["attention"],
    "attention": ["trace"],
    "decoding": ["state"],
    "data": ["data.source", "data.corpus"],
    "data.corpus": [],
    "data.source": ["data"],
    "metrics": ["metrics.score", "data.corpus"],
    "metrics.score": [],
    "state": [],
    "stream": [],
    "printing": [],
    "trace": [],
    "": [],
}


def module(file: Path) -> str:
    """Return the name of a module within the package: attention.core."""
    return ".".join(file.relative_to(HOUSE).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


def room(name: str) -> str:
    """Return the nearest name of the map: attention.core is in attention, training.plan stands by itself."""
    while name and name not in ARROWS:
        name = name.rpartition(".")[0]
    return name


@cache
def below(name: str) -> frozenset[str]:
    """Return what a room may import: what its arrows reach."""
    reached, left = {name}, list(ARROWS[name])
    while left:
        following = left.pop()
        if following not in reached:
            reached.add(following)
            left += ARROWS[following]
    return frozenset(reached)


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """Yield line and name of every module of the package that a file imports, wherever in the file it does so."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "regard":
            within = (node.module or "").removeprefix("regard").removeprefix(".")
            for alias in node.names:
                whole = f"{within}.{alias.name}".removeprefix(".")
                found = HOUSE.joinpath(*whole.split("."))
                yield node.lineno, whole if found.is_dir() or found.with_suffix(".py").exists() else within
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name[7:]) for alias in node.names if alias.name.startswith("regard."))


@pytest.mark.parametrize("file", FILES, ids=module)
def test_imports_go_one_way(file: Path) -> None:
    if file == HOUSE / "__init__.py":
        pytest.skip("the package offers `open` when it is asked for, and imports nothing")
    here = room(module(file))
    assert here, f"{file} is in no room of the map; give it one in style.md and in ARROWS"
    for line, name in imports(file):
        there = room(name)
        assert there in below(here), (
            f"{file.relative_to(HOUSE)}, line {line}: {here} may not import {there or name}. "
            f"From {here} the arrows lead to: {', '.join(sorted(below(here) - {here})) or 'nothing'}."
        )


def test_the_map_has_no_circle() -> None:
    # data and data.source are one room with a light door: a Source is all that help and signatures need.
    for name in set(ARROWS) - {"data", "data.source"}:
        assert not any(name in below(lower) for lower in ARROWS[name]), f"{name} is reached from below itself"


@pytest.mark.parametrize("file", [file for file in FILES if file.read_text(encoding="utf-8").strip()], ids=module)
def test_every_module_says_what_it_is_about(file: Path) -> None:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    assert text, f"{file} has no docstring"


@pytest.mark.parametrize("statement", ["import regard", "import regard.cli"])
def test_importing_the_command_line_imports_nothing_heavy(statement: str) -> None:
    heavy = "torch numpy tokenizers sacrebleu safetensors matplotlib rich.console"
    code = f"{statement}; import sys; print(*(name for name in '{heavy}'.split() if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_open_is_a_function_whatever_was_imported_before() -> None:
    code = "import regard.open, regard; assert callable(regard.open) and regard.open is regard.open.__globals__['open']"
    subprocess.run([sys.executable, "-c", code], check=True)
