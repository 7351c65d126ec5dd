"""Sampling: at every place an id drawn from p^(1/temperature), cut to the likeliest few where asked.

Top-k keeps the k likeliest ids (Fan et al. 2018), top-p the fewest whose probabilities reach p (Holtzman et al. 2020,
nucleus sampling), in this order, after the temperature. A draw inverts the cumulative distribution at a uniform number
that belongs to the sentence and the place: a sentence's sample does not depend on the others in its batch.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from regard.decoding.contract import Hypotheses, Limits, Step, likeliest
from regard.decoding.walk import walk
from regard.state import State


def search(
    step: Step,
    state: State,
    start: Tensor,
    limits: Limits,
    *,
    temperature: float = 1.0,  # below 1 the likely ids become likelier; 0 is greedy
    top_k: int = 0,  # choose among the likeliest N only; 0 among all
    top_p: float = 1.0,  # choose among the fewest that hold this much probability
    seeds: Sequence[int] | None = None,
    n_best: int = 1,  # texts for each input
) -> Hypotheses:
    """Return `n_best` samples of each sentence, which may coincide. Their scores are the model's own, untempered.

    Temperature 0 is greedy search, top_k 0 keeps every id. Without `seeds` a sentence's seed is its number.
    """
    if not 0 <= temperature < math.inf:
        raise ValueError(f"temperature is {temperature}, but must be a number from 0 (always the likeliest id) upwards")
    if top_k < 0:
        raise ValueError(f"top_k is {top_k}, but must be 0 (every id) or how many of the likeliest ids to keep")
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p is {top_p}, but must be above 0 and at most 1 (every id)")
    if n_best < 1:
        raise ValueError(f"n_best is {n_best}, but must be at least 1")
    seeds = range(len(limits.longest)) if seeds is None else seeds
    if len(seeds) != len(limits.longest):
        raise ValueError(f"{len(seeds)} seeds came for {len(limits.longest)} sentences; give one for each")
    uniform_RT = uniform(seeds, limits.longest, n_best).to(start.device)

    def choose(logp_BV: Tensor, number_B: Tensor, place: int) -> Tensor:
        if temperature == 0:
            return likeliest(logp_BV)
        return draw(logp_BV, uniform_RT[number_B, place], temperature, top_k, top_p)

    return walk(step, state, start, limits, choose, width=n_best)


def uniform(seeds: Sequence[int], longest: Sequence[int], samples: int) -> Tensor:
    """Return a number in [0, 1) for each place of each sample, drawn from the seed of its sentence alone."""
    uniform_NWT = torch.zeros(len(seeds), samples, max(longest, default=0))
    for row_WT, seed, places in zip(uniform_NWT, seeds, longest, strict=True):
        # The generator tells seeds apart by 32 bits.
        generator = torch.Generator().manual_seed(seed % 2**32)
        row_WT[:, :places] = torch.rand(samples, places, generator=generator)
    return uniform_NWT.flatten(0, 1)


def draw(logp_BV: Tensor, uniform_B: Tensor, temperature: float, top_k: int, top_p: float) -> Tensor:
    """Return an id of each row. An id of probability zero is never drawn."""
    # Subtract before dividing, so that no temperature overflows; nothing below 1e-30 survives a division in float32.
    p_BC = ((logp_BV - logp_BV.amax(-1, keepdim=True)) / max(temperature, 1e-30)).softmax(-1)
    ids_BC = None
    if top_k:
        p_BC, ids_BC = p_BC.topk(min(top_k, p_BC.shape[-1]))
        p_BC = p_BC / p_BC.sum(-1, keepdim=True)
    if top_p < 1:
        if ids_BC is None:
            p_BC, ids_BC = head(p_BC, top_p)
        before_BC = pad(p_BC.cumsum(-1)[:, :-1], (1, 0))
        p_BC = p_BC.masked_fill(before_BC >= top_p, 0.0)

    cumulative_BC = p_BC.cumsum(-1)
    target_B1 = uniform_B[:, None] * cumulative_BC[:, -1:]
    column_B1 = (cumulative_BC <= target_B1).sum(-1, keepdim=True).clamp(max=p_BC.shape[-1] - 1)
    # Sums made in parallel may rise where nothing is added: never let rounding draw the impossible.
    column_B1 = torch.where(p_BC.gather(1, column_B1) > 0, column_B1, p_BC.argmax(-1, keepdim=True))
    return (column_B1 if ids_BC is None else ids_BC.gather(1, column_B1)).squeeze(1)


def head(p_BV: Tensor, mass: float) -> tuple[Tensor, Tensor]:
    """Return the likeliest ids of each row, best first, and their probabilities: so many that all rows hold `mass`."""
    # Sorting a whole vocabulary costs five times more than its best thousand, which nearly always suffice.
    p_BC, ids_BC = p_BV.topk(min(1000, p_BV.shape[-1]))
    (rows,) = (p_BC.sum(-1) < mass).nonzero(as_tuple=True)
    if len(rows):
        behind = (0, p_BV.shape[-1] - p_BC.shape[-1])
        p_BC, ids_BC = pad(p_BC, behind), pad(ids_BC, behind)
        p_BC[rows], ids_BC[rows] = p_BV[rows].sort(-1, descending=True)
    return p_BC, ids_BC
