"""Chance without a generator: every draw for an example comes from one hash of what the example is called.

So an example is a pure function of its name (seed, split, index), on every machine and in every version of Python,
and costs the same whether it is the first or the millionth.
"""

from collections.abc import Sequence
from hashlib import blake2b, shake_256
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A row of numbers that follow from a name; 64 bytes of them are far more than most examples ask for."""

    __slots__ = ("_left",)

    def __init__(self, name: str, size: int = 64) -> None:
        self._left = int.from_bytes(shake_256(name.encode()).digest(size), "big")

    def below(self, bound: int) -> int:
        """Return a number from 0 up to bound, without bound itself."""
        self._left, number = divmod(self._left, bound)
        return number

    def among(self, choices: Sequence[T]) -> T:
        """Return one of the choices."""
        return choices[self.below(len(choices))]


def rank(name: str) -> int:
    """Return a number that puts names into an order that means nothing and never changes."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big")
