"""The lines of a file, and what may be wrong with them.

A line ends at "\\n" or "\\r\\n" and nowhere else: other signs that some libraries take for the end of a line (U+2028, a
vertical tab, a lone "\\r") occur inside sentences. Files are UTF-8, gzipped or not.
"""

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, NamedTuple

from regard.data.corpus import Pair


class Ask(NamedTuple):
    """What is asked of a file: two languages, and which columns or keys hold them (empty: find out)."""

    source: str
    target: str
    columns: str = ""

    def named(self) -> tuple[str, str] | None:
        """Return the two columns or keys, where they are given."""
        if not self.columns:
            return None
        first, *rest = (name.strip() for name in self.columns.split(","))
        if len(rest) != 1 or not first or not rest[0]:
            raise ValueError(f"--columns is {self.columns!r}, but must name two: 1,2 or {self.source},{self.target}")
        return first, rest[0]


class Row(NamedTuple):
    """A pair as it was written, and where."""

    file: str
    line: int
    pair: Pair
    beside: str = ""
    """The file of the target, where it is another."""


class Bad(NamedTuple):
    """A line that holds no pair and should."""

    file: str
    line: int
    reason: str
    detail: str


class Left(NamedTuple):
    """Something that is no pair by right: an entry marked fuzzy, a unit in other languages."""

    file: str
    line: int
    reason: str


Line = Row | Bad | Left


class Fault(Exception):
    """Why a line is bad: the reason under which it is counted, and a sentence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def same_language(code: str, asked: str) -> bool:
    """Is `code` the language that was asked for, or a form of it? en-US is en, en is not en-US, eng-ita is not eng."""
    code, asked = (name.lower().replace("_", "-") for name in (code, asked))
    # What may follow: a country (two letters), a script (four), a region (three digits), and then whatever else.
    return re.fullmatch(re.escape(asked) + r"([.@].*|-([a-z]{2}|[a-z]{4}|\d{3})([-.@].*)?)?", code) is not None


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for its bytes, unpacked where it is gzipped; a damaged archive is a ValueError."""
    with path.open("rb") as plain:
        packed = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        if not packed:
            yield plain
            return
        try:
            with gzip.open(plain) as stream:
                yield stream  # type: ignore[misc]  # a GzipFile reads like any binary file
        except (EOFError, gzip.BadGzipFile, zlib.error) as reason:
            raise ValueError(f"{path} is a damaged gzip file ({reason})") from None


def lines(path: Path) -> Iterator[bytes]:
    with opened(path) as stream:
        for number, ended in enumerate(stream):
            line = ended.removesuffix(b"\n").removesuffix(b"\r")
            yield line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line


def decoded(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as reason:
        detail = f"byte {line[reason.start]:#04x} at position {reason.start + 1} is not UTF-8"
        raise Fault("not UTF-8", detail) from None


def checked(text: str, language: str) -> str:
    if not text.strip():
        raise Fault("empty side", f"the {language} side is empty")
    if "\0" in text:
        raise Fault("NUL character", f"the {language} side has a NUL character, which no text has")
    return text


def each_line(path: Path, ask: Ask, parse: Callable[[str], tuple[str, str]], header: int = 0) -> Iterator[Line]:
    """Read a file in which every line, after the header, holds a pair."""
    for number, line in enumerate(lines(path), 1):
        if number <= header:
            continue
        try:
            source, target = parse(decoded(line))
            pair = Pair(checked(source, ask.source), checked(target, ask.target))
        except Fault as fault:
            yield Bad(str(path), number, fault.reason, fault.detail)
        else:
            yield Row(str(path), number, pair)


def two_files(source: Path, target: Path, ask: Ask) -> Iterator[Line]:
    """Read two files side by side: line n of one translates line n of the other."""
    counts = [0, 0]
    for number, (left, right) in enumerate(zip_longest(lines(source), lines(target)), 1):
        counts = [counts[0] + (left is not None), counts[1] + (right is not None)]
        if left is None or right is None:
            continue
        sides: list[str] = []
        for path, line, language in ((source, left, ask.source), (target, right, ask.target)):
            try:
                sides.append(checked(decoded(line), language))
            except Fault as fault:
                yield Bad(str(path), number, fault.reason, fault.detail)
                break
        else:
            yield Row(str(source), number, Pair(*sides), str(target))
    if counts[0] != counts[1]:
        raise ValueError(
            f"{source} has {counts[0]} lines, but {target} has {counts[1]}; "
            "line n of one must be the translation of line n of the other"
        )
