"""How well a key answers a query: one class for each scoring function of the lectures.

Every score has the same constructor, so that a recipe can name one: `score(heads, query_width, key_width)`. What no
query changes (`keys`) is computed once for each memory.
"""

import math
from typing import ClassVar

from torch import Tensor, nn


class Score(nn.Module):
    """A scoring function: q_BHTE and prepared k_BHSE give scores_BHTS.

    `class Mine(Score, name="mine")` gives it a name.
    """

    named: ClassVar[dict[str, type["Score"]]] = {}

    def __init_subclass__(cls, *, name: str) -> None:
        Score.named[name] = cls

    def __init__(self, heads: int, query_width: int, key_width: int) -> None:
        super().__init__()

    def keys(self, k_BHSE: Tensor) -> Tensor:
        """Return the keys as `forward` wants them."""
        return k_BHSE

    def forward(self, q_BHTE: Tensor, k_BHSE: Tensor) -> Tensor:
        raise NotImplementedError


class Dot(Score, name="dot"):
    """q·k: how far a key points the query's way (Luong 2015, "dot")."""

    def __init__(self, heads: int, query_width: int, key_width: int) -> None:
        super().__init__(heads, query_width, key_width)
        if query_width != key_width:
            raise ValueError(
                f"queries are {query_width} wide and keys {key_width}, but a dot product needs both alike; "
                "project one of them, or use a score with a matrix in between"
            )

    def forward(self, q_BHTE: Tensor, k_BHSE: Tensor) -> Tensor:
        return q_BHTE @ k_BHSE.transpose(-1, -2)


class ScaledDot(Dot, name="scaled"):
    """q·k / √E: the dot product, divided by its own standard deviation (Vaswani 2017)."""

    def forward(self, q_BHTE: Tensor, k_BHSE: Tensor) -> Tensor:
        # Divide before the product, not after: half precision overflows otherwise.
        return (q_BHTE / math.sqrt(q_BHTE.shape[-1])) @ k_BHSE.transpose(-1, -2)


def find(name: str) -> type[Score]:
    """Return the scoring function of a name."""
    if name not in Score.named:
        raise ValueError(f"there is no score {name!r}; there are: {', '.join(sorted(Score.named))}")
    return Score.named[name]
