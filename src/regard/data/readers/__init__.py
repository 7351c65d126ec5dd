"""Files that hold both languages: one module for each format, named as its files end.

A module has `read(path, ask) -> Iterator[Line]`. A new module is a new format: nothing else needs to know its name.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from regard.data.lines import Ask, Line


def formats() -> list[str]:
    """Return the endings that are understood."""
    return sorted(module.name for module in iter_modules(__path__))


def reader(ending: str) -> Callable[[Path, Ask], Iterator[Line]]:
    read: Callable[[Path, Ask], Iterator[Line]] = import_module(f"{__name__}.{ending}").read
    return read
