"""Columns between tabs, with or without a line of names on top. Nothing is quoted: a quotation mark is text.

Source and target are the first two columns, or those that a top line calls by the two languages or `source` and
`target`, or those that are asked for, by number (from 1) or by name.
"""

from collections.abc import Iterator
from pathlib import Path

from regard.data.lines import Ask, Fault, Line, decoded, each_line, lines, same_language


def read(path: Path, ask: Ask) -> Iterator[Line]:
    top = first_line(path)
    places, header = columns(path, ask, top)
    width = max(len(top), *(place + 1 for place in places))

    def parse(line: str) -> tuple[str, str]:
        cells = line.split("\t")
        if len(cells) != width:
            raise Fault("wrong number of columns", f"{counted(len(cells))} between tabs, but expected {width}")
        return cells[places[0]], cells[places[1]]

    yield from each_line(path, ask, parse, header=int(header))


def first_line(path: Path) -> list[str]:
    try:
        return decoded(next(lines(path))).split("\t")
    except (Fault, StopIteration):
        return []


def columns(path: Path, ask: Ask, top: list[str]) -> tuple[tuple[int, int], bool]:
    """Return the places of source and target, and whether the top line is made of names."""
    named = ask.named()
    if named is None:
        names = [name.strip() for name in top]
        found = [
            [i for i, name in enumerate(names) if name.lower() == side or same_language(name, language)]
            for side, language in (("source", ask.source), ("target", ask.target))
        ]
        if found[0] and found[1] and found[0] != found[1]:
            return (found[0][0], found[1][0]), True
        return (0, 1), False
    if all(name.isdecimal() for name in named):
        first, second = (int(name) - 1 for name in named)
        if min(first, second) < 0:
            raise ValueError(f"--columns is {ask.columns!r}, but columns count from 1")
        return (first, second), False
    for name in named:
        if name not in top:
            raise ValueError(f"{path} has no column {name!r}; its first line names {', '.join(top) or 'nothing'}")
    return (top.index(named[0]), top.index(named[1])), True


def counted(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"
