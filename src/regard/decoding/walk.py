"""One id after another: the loop that greedy search and sampling share. What they differ in is how they choose."""

from collections.abc import Callable

import torch
from torch import Tensor

from regard.decoding.contract import (
    Hypotheses,
    Limits,
    Step,
    begin,
    best_first,
    choices,
    hypothesis,
    log_probabilities,
)
from regard.state import State, select

Choose = Callable[[Tensor, Tensor, int], Tensor]
"""(logp_BV, number_B, place) → ids_B. `number` tells the caller's hypotheses apart: sentence·width + which."""


@torch.no_grad()
def walk(step: Step, state: State, start: Tensor, limits: Limits, choose: Choose, width: int = 1) -> Hypotheses:
    """Return `width` hypotheses of each sentence, each extended by the id that `choose` picks until it ends."""
    if not limits.longest:
        return []
    live, tokens_NT = begin(start, limits)
    logits_NTV, state = step(tokens_NT, state)
    score_N = log_probabilities(logits_NTV[:, :-1], tokens_NT[:, 1:]).sum(-1)
    logits_BV = logits_NTV[:, -1]

    # What is written lies apart from the batch, so that leaving sentences need no farewell.
    written_RT = start.new_full((len(start) * width, max(limits.longest)), limits.end)
    written_RT[:, : tokens_NT.shape[1] - 1] = tokens_NT[:, 1:].repeat_interleave(width, dim=0)
    score_R = score_N.repeat_interleave(width)
    done_R = torch.zeros_like(score_R, dtype=torch.bool)

    number_B = torch.arange(len(score_R), device=start.device)
    if width > 1:
        rows = number_B // width
        logits_BV, state = logits_BV[rows], select(state, rows)

    for place in range(tokens_NT.shape[1] - 1, max(limits.longest)):
        forced_B = live.forced(place, limits.end).repeat_interleave(width)
        logp_BV = choices(logits_BV, forced_B, limits.never)
        ids_B = choose(logp_BV, number_B, place)
        gain_B = logp_BV.gather(1, ids_B[:, None]).squeeze(1)
        score_R[number_B] += gain_B.masked_fill(done_R[number_B], 0.0)
        written_RT[number_B, place] = ids_B
        done_R[number_B] |= ids_B == limits.end

        live = live._replace(done_N=done_R[number_B].view(-1, width).all(1))
        staying = live.staying(place + 1)
        if staying is not None:
            if not len(staying):
                break
            rows = (staying[:, None] * width + torch.arange(width, device=start.device)).flatten()
            live, state = live.select(staying), select(state, rows, staying)
            number_B, ids_B = number_B[rows], ids_B[rows]
        logits_BTV, state = step(ids_B[:, None], state)
        logits_BV = logits_BTV[:, -1]

    texts = [ids[: ids.index(limits.end) + 1] for ids in written_RT.tolist()]
    every = [hypothesis(ids, score) for ids, score in zip(texts, score_R.tolist(), strict=True)]
    return [best_first(every[first : first + width]) for first in range(0, len(every), width)]
