"""Parallel text as the rest of the program sees it: pairs by split, and what only the corpus can judge."""

from typing import NamedTuple, Protocol


class Pair(NamedTuple):
    source: str
    target: str


class Links(NamedTuple):
    """A gold word alignment: (source word, target word), counted from 0; every sure link is possible too."""

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


class Corpus(Protocol):
    """Pairs of texts by split. It is a description: nothing is read or generated before somebody asks."""

    def splits(self) -> list[str]:
        """Return "train" and "val", then the test splits by name."""

    def pairs(self, split: str) -> list[Pair]:
        """Return the pairs of a split, NFC-normalised."""

    def describe(self) -> dict[str, object]:
        """Return what was recognised: format, pairs by split, and the files with their SHA-256."""

    def measures(self, split: str, outputs: list[str]) -> dict[str, float]:
        """Return what this corpus alone can judge of translations of a split; nothing for plain files."""

    def alignments(self, split: str) -> list[Links] | None:
        """Return the gold alignments of a split, where the corpus has them."""
