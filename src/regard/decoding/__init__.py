"""Searches, one file each: a file of this folder that defines `search` is a search, found by its name.

Reading this module loads no search, and naming them loads none either.
"""

import ast
import difflib
import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any


def names() -> list[str]:
    """Return the names of all searches."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if _defines_search(path))


def find(name: str) -> Callable[..., Any]:
    """Return the `search` function of that name."""
    if name not in names():
        near = difflib.get_close_matches(name, names(), n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names())}"
        raise ValueError(f"unknown search {name!r}; {hint}")
    search: Callable[..., Any] = importlib.import_module(f"{__name__}.{name}").search
    return search


def options(name: str) -> dict[str, Any]:
    """Return the options of a search with their defaults: what comes after step, state, start and limits."""
    parameters = inspect.signature(find(name)).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}


def _defines_search(path: Path) -> bool:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return any(isinstance(part, ast.FunctionDef) and part.name == "search" for part in body)
