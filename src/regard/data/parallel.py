"""Parallel text in files that people already have: see `places` for what is recognised.

Every side is put into Unicode normal form C. Without validation data, 1 % of the training pairs is held out.
"""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from regard.data.corpus import Links, Pair
from regard.data.lines import Ask, Bad, Left, Row
from regard.data.places import Found, Part, find, listed

MOST_HELD_OUT = 2000


class Reading(NamedTuple):
    rows: list[Row]
    bad: Counter[str]
    left: Counter[str]


@dataclass(frozen=True)
class Parallel:
    """A corpus of two languages: see `Corpus`."""

    place: str
    source: str
    target: str
    columns: str = ""
    skip_bad: bool = False

    def splits(self) -> list[str]:
        return names(self.found())

    def pairs(self, split: str) -> list[Pair]:
        found = self.found()
        if split not in names(found):
            others = f"; not read: {listed(found.ignored)}" if found.ignored else ""
            raise ValueError(f"{self.place} has no split {split!r}, only {', '.join(names(found))}{others}")
        if split in ("train", "val") and "val" not in found.parts:
            train, val = held_out(self.place, self.read(found.parts["train"]).rows)
            return normal(train if split == "train" else val)
        return normal(self.read(found.parts[split]).rows)

    def describe(self) -> dict[str, object]:
        found = self.found()
        readings = {split: self.read(parts) for split, parts in found.parts.items()}
        counts = {split: len(reading.rows) for split, reading in readings.items()}
        holds_out = "train" in counts and "val" not in counts
        if holds_out:
            train, val = held_out(self.place, readings["train"].rows)
            counts |= {"train": len(train), "val": len(val)}
        parts = [part for parts in found.parts.values() for part in parts]
        files = sorted({file for part in parts for file in part.files})
        return {
            "format": " and ".join(sorted({part.format for part in parts})),
            "place": self.place,
            "source": self.source,
            "target": self.target,
            "pairs": {split: counts[split] for split in names(found)},
            "held_out": holds_out,
            "files": {str(file): fingerprint(file) for file in files},
            "ignored": [str(file) for file in found.ignored],
            "bad": dict(sum((reading.bad for reading in readings.values()), Counter[str]())),
            "left_out": dict(sum((reading.left for reading in readings.values()), Counter[str]())),
        }

    def measures(self, split: str, outputs: list[str]) -> dict[str, float]:
        return {}

    def alignments(self, split: str) -> list[Links] | None:
        return None

    @property
    def ask(self) -> Ask:
        return Ask(self.source, self.target, self.columns)

    def found(self) -> Found:
        return find(self.place, self.ask)

    def read(self, parts: Iterable[Part]) -> Reading:
        """Read parts of one split; a bad line is an error, or counted where bad lines are to be skipped."""
        reading = Reading([], Counter(), Counter())
        parts = list(parts)
        for part in parts:
            for line in part.read(self.ask):
                match line:
                    case Row():
                        reading.rows.append(line)
                    case Left():
                        reading.left[line.reason] += 1
                    case Bad() if self.skip_bad:
                        reading.bad[line.reason] += 1
                    case Bad():
                        raise ValueError(
                            f"{line.file}:{line.line}: {line.detail} (--skip-bad goes on without bad lines)"
                        )
        if not reading.rows:
            files = " and ".join(str(file) for part in parts for file in part.files) or self.place
            dropped = [f"{count} {reason}" for reason, count in (reading.bad + reading.left).most_common()]
            raise ValueError(
                f"no {self.source}-{self.target} pairs in {files}{': ' * bool(dropped)}{', '.join(dropped)}"
            )
        return reading


def names(found: Found) -> list[str]:
    splits = set(found.parts) | ({"val"} if "train" in found.parts else set())
    return [*(name for name in ("train", "val") if name in splits), *sorted(splits - {"train", "val"})]


def normal(rows: list[Row]) -> list[Pair]:
    return [Pair(*(unicodedata.normalize("NFC", side) for side in row.pair)) for row in rows]


def held_out(place: str, rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return (training, validation): 1 %, chosen by a hash of the source, all pairs of a source on one side."""
    wanted = min(MOST_HELD_OUT, max(1, len(rows) // 100))
    sources = [unicodedata.normalize("NFC", row.pair.source) for row in rows]
    counts = Counter(sources)
    if len(counts) < 2:
        raise ValueError(f"{place} has only one source sentence, so that nothing can be held out; add validation files")
    ranked = sorted(counts, key=lambda source: hashlib.sha256(source.encode()).digest())
    # Sources with many translations may not fit; the first always does, so that something is held out.
    chosen, held = {ranked[0]}, counts[ranked[0]]
    for source in ranked[1:]:
        if held + counts[source] <= wanted:
            chosen.add(source)
            held += counts[source]
    sides: tuple[list[Row], list[Row]] = ([], [])
    for row, source in zip(rows, sources, strict=True):
        sides[source in chosen].append(row)
    return sides


def fingerprint(file: Path) -> dict[str, object]:
    with file.open("rb") as stream:
        return {"bytes": file.stat().st_size, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}
