"""What is wrong in somebody's parallel text, and how much of it there is.

Nothing is changed and nothing stops at the first problem: every line is looked at, and every kind of problem is counted
and shown at the first few places.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import NamedTuple

from regard.data.corpus import Pair
from regard.data.lines import Ask, Bad, Left, Row
from regard.data.parallel import fingerprint, held_out
from regard.data.places import Part, find
from regard.data.source import Source

SHOWN = 5  # places named for each problem
LONG_WORDS, LONG_CHARACTERS = 200, 1000
RATIO, SLACK = 3.0, 20  # so many times the usual length ratio, and so many characters away from it

ALPHABETS = {
    "Latin": re.compile(r"[A-Za-z\u00c0-\u024f]"),
    "Greek": re.compile(r"[\u0370-\u03ff]"),
    "Cyrillic": re.compile(r"[\u0400-\u052f]"),
}
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffd]")
STRAY = re.compile(r"^\s|\s$|\s\s")


@dataclass
class Problem:
    """One kind of problem: how often, and the first places."""

    count: int = 0
    where: list[str] = field(default_factory=list)

    def add(self, place: str) -> None:
        self.count += 1
        if len(self.where) < SHOWN:
            self.where.append(place)


@dataclass(frozen=True)
class Statistics:
    """How much text one side of a split has; words are what white space separates."""

    words: int
    distinct_words: int
    most_words: int
    characters: int
    distinct_characters: int
    most_characters: int


@dataclass(frozen=True)
class Section:
    """A split: its pairs, what is wrong in it, and how much text it has."""

    pairs: int
    problems: dict[str, Problem]
    left_out: dict[str, int]
    source: Statistics
    target: Statistics


class Overlap(NamedTuple):
    """How many pairs of `split` have a source, a target, or both, that occur in `other`."""

    split: str
    other: str
    by_source: int
    by_target: int
    by_pair: int


@dataclass(frozen=True)
class Report:
    place: str
    format: str
    source: str
    target: str
    files: dict[str, dict[str, object]]
    ignored: list[str]
    splits: dict[str, Section]
    held_out: int
    """Pairs of the training data that will serve as validation data, where there is none."""
    overlaps: list[Overlap]

    def as_json(self) -> dict[str, object]:
        """Return the report as plain values, ready for json.dumps."""
        return asdict(self) | {"overlaps": [overlap._asdict() for overlap in self.overlaps]}

    def __str__(self) -> str:
        text = [f"{self.place}: {self.format}, {self.source} → {self.target}"]
        text += [f"  {name}  {facts['bytes']:,} bytes" for name, facts in self.files.items()]
        text += [f"  not read: {', '.join(self.ignored)}"] if self.ignored else []
        for name, section in self.splits.items():
            text += ["", f"{name}: {section.pairs:,} pairs"]
            text += [said(self.source, section.source), said(self.target, section.target)] if section.pairs else []
            text += [f"  left out: {count:,} {reason}" for reason, count in section.left_out.items()]
            for kind, problem in section.problems.items():
                text += [f"  {problem.count:,} × {kind}", *(f"      {place}" for place in problem.where)]
                text += ["      …"] if problem.count > len(problem.where) else []
            text += [] if section.problems else ["  no problems"]
        if self.held_out:
            text += ["", f"val: {self.held_out:,} pairs of the training data are held out for it"]
        if self.overlaps:
            text.append("")
        for split, other, by_source, by_target, by_pair in self.overlaps:
            numbers = f"{by_source:,} by source, {by_target:,} by target, {by_pair:,} as pairs"
            text.append(f"{split} occurs in {other}: {numbers} (of {self.splits[split].pairs:,})")
        return "\n".join(text)


def said(language: str, side: Statistics) -> str:
    return (
        f"  {language}: {side.words:,} words ({side.distinct_words:,} distinct, at most {side.most_words} a line), "
        f"{side.characters:,} characters ({side.distinct_characters:,} distinct)"
    )


def inspect(source: Source, source_language: str, target_language: str) -> Report:
    """Read everything that `source` describes and return what is in it and what is wrong with it."""
    ask = Ask(source_language, target_language, source.columns)
    if source.place == "scenes":
        corpus = source.parallel(source_language, target_language)
        splits = {name: rows_of(name, corpus.pairs(name)) for name in corpus.splits()}
        sections = {name: section(rows, {}, Counter()) for name, rows in splits.items()}
        form, files, ignored = "scenes", list[Path](), list[Path]()
    else:
        found = find(source.place, ask)
        splits, sections = {}, {}
        for name in sorted(found.parts, key=lambda name: (name != "train", name != "val", name)):
            splits[name], problems, left = gathered(found.parts[name], ask)
            sections[name] = section(splits[name], problems, left)
        parts = [part for split in found.parts.values() for part in split]
        form = " and ".join(sorted({part.format for part in parts}))
        files, ignored = sorted({file for part in parts for file in part.files}), found.ignored
    return Report(
        place=source.place,
        format=form,
        source=source_language,
        target=target_language,
        files={str(file): fingerprint(file) for file in files},
        ignored=[file.name for file in ignored],
        splits=sections,
        held_out=validation(source.place, splits, sections),
        overlaps=overlaps(splits),
    )


def rows_of(split: str, pairs: list[Pair]) -> list[Row]:
    return [Row(split, number, pair) for number, pair in enumerate(pairs, 1)]


def gathered(parts: list[Part], ask: Ask) -> tuple[list[Row], dict[str, Problem], Counter[str]]:
    """Return the pairs of some files, with their bad lines as problems; a file that ends in an error is one too."""
    rows: list[Row] = []
    problems: dict[str, Problem] = defaultdict(Problem)
    left: Counter[str] = Counter()
    for part in parts:
        try:
            for line in part.read(ask):
                match line:
                    case Row():
                        rows.append(line)
                    case Bad():
                        problems[line.reason].add(f"{line.file}:{line.line}: {line.detail}")
                    case Left():
                        left[line.reason] += 1
        except ValueError as reason:
            problems["file cannot be used"].add(str(reason))
    return rows, problems, left


def validation(place: str, splits: dict[str, list[Row]], sections: dict[str, Section]) -> int:
    if "train" not in splits or "val" in splits or not splits["train"]:
        return 0
    try:
        return len(held_out(place, splits["train"])[1])
    except ValueError as reason:
        sections["train"].problems["nothing to hold out"] = Problem(1, [str(reason)])
        return 0


def section(rows: list[Row], problems: dict[str, Problem], left: Counter[str]) -> Section:
    found: dict[str, Problem] = defaultdict(Problem, problems)
    first: dict[Pair, Row] = {}
    usual = median(len(row.pair.target) / len(row.pair.source) for row in rows) if rows else 1.0
    for row in rows:
        place = f"{row.file}:{row.line}"
        for text, file in zip(row.pair, (row.file, row.beside or row.file), strict=True):
            for kind, check in CHECKS.items():
                if detail := check(text):
                    found[kind].add(f"{file}:{row.line}: {detail}")
        if row.pair.source == row.pair.target:
            found["identical sides"].add(f"{place}: {shortened(row.pair.source)}")
        if row.pair in first:
            found["duplicate"].add(f"{place}: as {first[row.pair].file}:{first[row.pair].line}")
        first.setdefault(row.pair, row)
        lengths = len(row.pair.source), len(row.pair.target)
        if out_of_proportion(*lengths, usual):
            found["length ratio"].add(f"{place}: {lengths[0]} characters against {lengths[1]}")
    source, target = (measured([row.pair[side] for row in rows]) for side in (0, 1))
    return Section(len(rows), dict(found), dict(left), source, target)


def measured(texts: list[str]) -> Statistics:
    words: Counter[str] = Counter()
    characters: set[str] = set()
    most = 0
    for text in texts:
        split = text.split()
        words.update(split)
        characters.update(text)
        most = max(most, len(split))
    longest = max(map(len, texts), default=0)
    return Statistics(words.total(), len(words), most, sum(map(len, texts)), len(characters), longest)


def overlaps(splits: dict[str, list[Row]]) -> list[Overlap]:
    found = []
    pairs = {name: [Pair(*map(nfc, row.pair)) for row in rows] for name, rows in splits.items()}
    for other, split in combinations(pairs, 2):
        sources, targets = ({pair[side] for pair in pairs[other]} for side in (0, 1))
        both = set(pairs[other])
        counts = (
            sum(pair.source in sources for pair in pairs[split]),
            sum(pair.target in targets for pair in pairs[split]),
            sum(pair in both for pair in pairs[split]),
        )
        if any(counts):
            found.append(Overlap(split, other, *counts))
    return found


def out_of_proportion(source: int, target: int, usual: float) -> bool:
    expected = source * usual
    return abs(target - expected) > SLACK and not expected / RATIO <= target <= expected * RATIO


def too_long(text: str) -> str:
    words = len(text.split())
    return f"{words} words, {len(text)} characters" if words > LONG_WORDS or len(text) > LONG_CHARACTERS else ""


def stray_space(text: str) -> str:
    return repr(around(text, place.start())) if (place := STRAY.search(text)) else ""


def control_character(text: str) -> str:
    return ", ".join(f"U+{ord(sign):04X}" for sign in sorted(set(CONTROL.findall(text))))


def not_normalised(text: str) -> str:
    return "" if unicodedata.is_normalized("NFC", text) else repr(shortened(text))


def mixed_alphabets(text: str) -> str:
    if text.isascii():
        return ""
    for word in re.findall(r"\w+", text):
        scripts = [name for name, letters in ALPHABETS.items() if letters.search(word)]
        if len(scripts) > 1:
            return f"{word} ({' and '.join(scripts)})"
    return ""


def encoded_twice(text: str) -> str:
    """Return a text like "Ã©tÃ©" with what was meant: bytes of UTF-8 that somebody took for Latin letters."""
    for encoding in ("latin-1", "cp1252"):
        try:
            meant = text.encode(encoding).decode()
        except UnicodeError:
            continue
        if meant != text:
            return f"{shortened(text)} (meant: {shortened(meant)})"
    return ""


CHECKS: dict[str, Callable[[str], str]] = {
    "very long": too_long,
    "stray white space": stray_space,
    "control or replacement character": control_character,
    "not in normal form C (will be)": not_normalised,
    "mixed alphabets in one word": mixed_alphabets,
    "encoded twice": encoded_twice,
}
"""What may be wrong in one text: what is shown of it, or nothing."""


def around(text: str, place: int) -> str:
    start = max(0, place - 30)
    return "…" * (start > 0) + shortened(text[start:])


def shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:60] + "…"


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
