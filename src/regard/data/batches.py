"""Sentences of like length together: batches as a pure function of (seed, step).

Pairs are sorted by target length, two lengths at a time, within these by source length, up and down in turn, so that
neighbours are alike on both sides. The sorted pairs are cut into batches and the batches shuffled, anew in every epoch.
Which lengths meet in a batch is the same in every epoch, which sentences of these lengths do is not; so an epoch has
the same number of batches always, and step n is batch n mod epoch, with nothing to replay.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
T = TypeVar("T")


def portions(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items a few at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


class Rows:
    """Token ids of many texts, end to end in one array."""

    def __init__(self, texts: list[list[int]]) -> None:
        self.lengths: Ints = np.fromiter(map(len, texts), np.int64, len(texts))
        self.starts: Ints = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.lengths)])
        self.ids = np.fromiter((id for text in texts for id in text), np.int32, int(self.starts[-1]))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, row: int) -> list[int]:
        found: list[int] = self.ids[self.starts[row] : self.starts[row + 1]].tolist()
        return found

    def padded(self, rows: Ints, pad: int) -> NDArray[np.int64]:
        """Return some rows as one table, filled up with `pad`."""
        lengths = self.lengths[rows]
        place = np.arange(lengths.max(initial=0))
        there = place < lengths[:, None]
        table = np.full(there.shape, pad, np.int64)
        table[there] = self.ids[(self.starts[rows][:, None] + place)[there]]
        return table


@dataclass(frozen=True)
class Buckets:
    """How the pairs of a split fall into batches of at most `size` target tokens, padding included."""

    source_lengths: Ints
    target_lengths: Ints
    size: int

    def sorted(self, rows: Ints) -> Ints:
        """Return rows so that neighbours are of like length."""
        source, target = self.source_lengths[rows], self.target_lengths[rows]
        found: Ints = rows[np.lexsort((target, np.where(target // 2 % 2, source, -source), target // 2))]
        return found

    def cuts(self) -> Ints:
        """Return where the sorted pairs are cut: batch n is what lies between cut n and cut n+1."""
        order = self.sorted(np.arange(len(self.target_lengths)))
        # A source more than twice as long as its target fills the batch instead.
        room = np.maximum(self.target_lengths, self.source_lengths // 2)[order]
        cuts, widest = [0], 0
        for place, width in enumerate(room.tolist()):
            widest = max(widest, width)
            if (place + 1 - cuts[-1]) * widest > self.size and place > cuts[-1]:
                cuts.append(place)
                widest = width
        return np.array([*cuts, len(room)] if len(room) else [0], np.int64)

    def from_step(self, seed: int, step: int) -> Iterator[Ints]:
        """Yield the rows of one batch after another, epoch after epoch, beginning with the batch of a step."""
        cuts = self.cuts()
        epoch, first = divmod(step, len(cuts) - 1)
        while True:
            random = np.random.default_rng([seed, epoch])
            order = self.sorted(random.permutation(len(self.target_lengths)))
            for batch in random.permutation(len(cuts) - 1)[first:]:
                yield order[cuts[batch] : cuts[batch + 1]]
            epoch, first = epoch + 1, 0

    def once(self) -> Iterator[Ints]:
        """Yield the rows of every batch once, shortest first."""
        order, cuts = self.sorted(np.arange(len(self.target_lengths))), self.cuts()
        for start, end in itertools.pairwise(cuts):
            yield order[start:end]
