"""Attention is four arrows: score, normalise, mix, and what is hidden in between.

    scores = score(q, k)      weights = softmax(scores where it may look)      context = Σ weights · v

Every system of the lectures is this line. A variation replaces an arrow with another callable. The explicit formula is
the definition; `kernels` has the faster forms of it, which run when they fit and nobody is looking.

Axes: B batch, H heads, T targets (queries), S sources (keys), D width, E width of a head.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from regard.attention import kernels
from regard.attention.masks import Mask, check, visible
from regard.trace import looking, note


class KeyValues(NamedTuple):
    """What queries are held against, and what they receive; `at` says where each key stands (left out: 0, 1, 2, …)."""

    k_BHSE: Tensor
    v_BHSE: Tensor
    at_BS: Tensor | None = None


Normalize = Callable[[Tensor, Tensor | None], Tensor]
Mix = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Softmax:
    """softmax(scores / temperature) over the keys that a query may see.

    A query with nothing to look at gets zero weights. Temperature 0 gives all weight to the largest score; equal ones
    share it.
    """

    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not self.temperature >= 0:
            raise ValueError(f"temperature is {self.temperature}, but must be 0 or more")

    def __call__(self, scores_BHTS: Tensor, mask: Tensor | None = None) -> Tensor:
        if mask is not None:
            check(mask, scores_BHTS.shape)
            scores_BHTS = scores_BHTS.masked_fill(~mask, -torch.inf)
        if self.temperature == 0:
            largest_BHT1 = scores_BHTS.amax(-1, keepdim=True)
            scores_BHTS = torch.where(scores_BHTS == largest_BHT1, 0.0, -torch.inf).to(scores_BHTS.dtype)
        elif self.temperature != 1:
            scores_BHTS = scores_BHTS / self.temperature
        weights_BHTS = scores_BHTS.softmax(-1)
        # A row without anything to see is 0/0 so far.
        return weights_BHTS if mask is None else weights_BHTS.masked_fill(~mask, 0.0)


softmax = Softmax()


def weighted_sum(weights_BHTS: Tensor, v_BHSE: Tensor) -> Tensor:
    """Return the mixture of values: row t is Σ_s weights[t, s] · v[s]."""
    return weights_BHTS @ v_BHSE


def attend(
    q_BHTE: Tensor,
    kv: KeyValues,
    *,
    score: Callable[[Tensor, Tensor], Tensor],
    mask: Mask | Tensor | None = None,
    normalize: Normalize = softmax,
    mix: Mix = weighted_sum,
    at_BT: Tensor | None = None,
) -> Tensor:
    """Return the context of every query: what it may see of the values, mixed by how well their keys score."""
    if not looking():
        kernel = kernels.find(q_BHTE, kv, score, mask, fused=normalize is softmax and mix is weighted_sum, at_BT=at_BT)
        if kernel is not None:
            return kernel()
    note("q", q_BHTE)
    note("k", kv.k_BHSE)
    note("v", kv.v_BHSE)
    scores_BHTS = note("scores", score(q_BHTE, kv.k_BHSE))
    seen = visible(mask, scores_BHTS.shape[-2], scores_BHTS.shape[-1], at_BT, kv.at_BS, scores_BHTS.device)
    if seen is not None:
        check(seen, scores_BHTS.shape)
        note("mask", seen.expand(scores_BHTS.shape))
    weights_BHTS = note("weights", normalize(scores_BHTS, seen))
    return note("context", mix(weights_BHTS, kv.v_BHSE))
