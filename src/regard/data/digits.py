"""Digits: short sequences to copy, to reverse or to sort, the smallest tasks that need attention.

A text is digits with spaces between them: "3 1 4". Sequences of six digits and more have a home, which follows from
the sequence alone: a tenth is for testing, a twentieth for validation, and training never shows those. Shorter ones
are too few to spare and all for training. So val and test have six digits or more; where longest is less than six,
just longest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Literal, get_args

from regard.data.corpus import Links, Pair
from regard.data.draw import Draw, rank

Order = Literal["copy", "reverse", "sort"]
SPLITS = ("train", "val", "test")
UNSEEN = 6
"""The fewest digits of a held-out sequence, where there are sequences of so many."""
FEW_KINDS = 4
"""Every so many training sequences are made of one to four kinds of digits: long runs of one digit are too rare by
chance to be learned."""


@dataclass(frozen=True)
class Digits:
    """Sequences of shortest to longest digits, all lengths alike, and the same digits in another order.

    The numbers are pairs of a split; those of val and test are distinct while there are enough. Everything follows from
    the seed.
    """

    order: Order = "reverse"
    longest: int = 16
    shortest: int = 1
    seed: int = 1
    train: int = 50_000
    val: int = 500
    test: int = 1_000

    def __post_init__(self) -> None:
        if self.order not in get_args(Order):
            raise ValueError(f"order is {self.order!r}, but must be one of {', '.join(get_args(Order))}")
        if self.longest < 3:
            raise ValueError(
                f"longest is {self.longest}, but must be at least 3: shorter sequences are too few to hold any out"
            )
        if self.longest > 1000:
            raise ValueError(f"longest is {self.longest}, but can be at most 1000")
        if not 1 <= self.shortest <= self.longest:
            raise ValueError(
                f"shortest is {self.shortest}, but must be at least 1 and at most the longest, {self.longest}"
            )
        for split in SPLITS:
            if self.size(split) < 0:
                raise ValueError(f"a split cannot have {self.size(split)} pairs, but {split} was asked to")

    def splits(self) -> list[str]:
        """Return the splits; val and test hold sequences that train never shows."""
        return list(SPLITS)

    def size(self, split: str) -> int:
        """Return how many pairs a split has."""
        if split not in SPLITS:
            raise ValueError(f"Digits has no split {split!r}; it has {', '.join(SPLITS)}")
        return {"train": self.train, "val": self.val, "test": self.test}[split]

    def pairs(self, split: str) -> list[Pair]:
        """Return the pairs of a split."""
        return [Pair(" ".join(digits), " ".join(self._ordered(digits))) for digits in self._sequences(split)]

    def alignments(self, split: str) -> list[Links]:
        """Return where each digit of the target comes from; in sorting, equal digits keep their order."""
        return [self._links(digits) for digits in self._sequences(split)]

    def measures(self, split: str, outputs: list[str]) -> dict[str, float]:
        """Return nothing: exact match says everything about digits."""
        return {}

    def describe(self) -> dict[str, object]:
        """Return what this corpus is."""
        kind = {"format": "digits", "order": self.order, "lengths": [self.shortest, self.longest], "seed": self.seed}
        return kind | {"pairs": {split: self.size(split) for split in SPLITS}, "files": [], "skipped": 0}

    def _sequences(self, split: str) -> Iterator[str]:
        seen: set[str] = set()
        for index in range(self.size(split)):
            for digits in islice(self._candidates(split, index), 1 if split == "train" else 20):
                if digits not in seen:
                    break
            seen.add(digits)
            yield digits

    def _candidates(self, split: str, index: int) -> Iterator[str]:
        """Go through the sequences of a split that could have this index; the first is taken that is not there yet."""
        unseen = max(self.shortest, min(UNSEEN, self.longest))
        least = self.shortest if split == "train" else unseen
        for attempt in count():
            draw = Draw(f"{self.seed}/{split}/digits/{index}/{attempt}", size=24 + self.longest // 2)
            length = least + draw.below(self.longest - least + 1)
            digits = str(draw.below(10**length)).zfill(length)
            if split == "train" and index % FEW_KINDS == 0:
                kinds = [draw.below(10) for _ in range(1 + draw.below(4))]
                digits = "".join(str(kinds[int(digit) % len(kinds)]) for digit in digits)
            if split == ("train" if length < unseen else home(digits)):
                yield digits

    def _ordered(self, digits: str) -> list[str]:
        return [digits[i] for i in self._origins(digits)]

    def _origins(self, digits: str) -> list[int]:
        """Return the place in the source of each digit of the target."""
        if self.order == "sort":
            return sorted(range(len(digits)), key=digits.__getitem__)
        return list(range(len(digits)))[:: 1 if self.order == "copy" else -1]

    def _links(self, digits: str) -> Links:
        links = frozenset((i, j) for j, i in enumerate(self._origins(digits)))
        return Links(links, links)


def home(digits: str) -> str:
    """Return the split of a sequence that is long enough to be held out."""
    return ("test", "test", "val")[number] if (number := rank(digits) % 20) < 3 else "train"
