"""Beam search: the `width` best hypotheses of each sentence go on, the best finished ones are returned.

A step looks at the 2·width best continuations of a sentence. Of the first `width`, those that end are finished; the
best `width` of the others live on, so that a finished hypothesis does not make the beam narrower. A sentence is done
when

* its n_best finished hypotheses cannot be overtaken any more: log-probabilities only fall, so the most that a live
  hypothesis of score s can reach is s / max penalty, taken over the lengths at which it may end; or
* its `width` best continuations all end: the beam is empty (that makes width one greedy search); or
* its limit is reached.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import pad

from regard.decoding.contract import (
    Hypotheses,
    Limits,
    Step,
    begin,
    best_first,
    choices,
    hypothesis,
    log_probabilities,
    penalty,
)
from regard.state import State, select


@torch.no_grad()
def search(
    step: Step,
    state: State,
    start: Tensor,
    limits: Limits,
    *,
    width: int = 5,  # hypotheses kept for each text
    length_penalty: float = 1.0,  # α: scores are divided by ((5 + length) / 6)^α; larger favours longer texts
    n_best: int = 1,  # texts for each input
) -> Hypotheses:
    """Return the `n_best` hypotheses of each sentence, or as many as exist, by their penalised scores."""
    check(width, length_penalty, n_best)
    if not limits.longest:
        return []
    found: Hypotheses = [[] for _ in limits.longest]
    live, tokens_NT = begin(start, limits)
    logits_BTV, state = step(tokens_NT, state)
    ids_NWT = tokens_NT[:, None, 1:]  # one hypothesis a sentence, until the first choice
    score_NW = log_probabilities(logits_BTV[:, :-1], tokens_NT[:, 1:]).sum(-1, keepdim=True)
    finished_NK = score_NW.new_full((len(start), n_best), -math.inf)  # the best penalised scores so far

    for length in range(tokens_NT.shape[1], max(limits.longest) + 1):
        sentences, beams = score_NW.shape
        sentence_N1 = torch.arange(sentences, device=start.device)[:, None]
        forced_B = live.forced(length - 1, limits.end).repeat_interleave(beams)
        logp_BV = choices(logits_BTV[:, -1], forced_B, limits.never)
        score_NC, parent_NC, token_NC = continuations(score_NW, logp_BV, 2 * width)
        ended_NC = (token_NC == limits.end) & (score_NC > -math.inf) & ~live.done_N[:, None]

        # Of the first `width`, those that end are finished; they are kept as far as they may still be returned.
        ended_NW = ended_NC[:, :width]
        penalised_NW = (score_NC[:, :width] / penalty(length, length_penalty)).masked_fill(~ended_NW, -math.inf)
        row, rank = (penalised_NW > finished_NK[:, -1:]).nonzero(as_tuple=True)
        if len(row):
            ids = torch.cat([ids_NWT[row, parent_NC[row, rank]], token_NC[row, rank, None]], dim=1).tolist()
            numbers, scores = live.number_N[row].tolist(), score_NC[row, rank].tolist()
            for number, text, score in zip(numbers, ids, scores, strict=True):
                found[number].append(hypothesis(text, score, length_penalty))
            finished_NK = torch.cat([finished_NK, penalised_NW], dim=1).topk(n_best).values

        # The best `width` of the others live on.
        going_NW = ended_NC.long().argsort(dim=1, stable=True)[:, :width]
        score_NW, parent_NW, token_NW = (x.gather(1, going_NW) for x in (score_NC, parent_NC, token_NC))
        ids_NWT = torch.cat([ids_NWT[sentence_N1, parent_NW], token_NW[:, :, None]], dim=2)

        most_N = ((5 + live.longest_N) / 6).pow(length_penalty).clamp(min=penalty(length + 1, length_penalty))
        settled_N = finished_NK[:, -1] >= score_NW[:, 0] / most_N
        live = live._replace(done_N=live.done_N | settled_N | ended_NW.all(1) | (live.longest_N <= length))
        score_NW = score_NW.masked_fill(live.done_N[:, None], 0.0)

        rows_NW = sentence_N1 * beams + parent_NW
        staying = live.staying(length)
        if staying is not None:
            if not len(staying):
                break
            live, finished_NK = live.select(staying), finished_NK[staying]
            ids_NWT, score_NW, token_NW, rows_NW = (x[staying] for x in (ids_NWT, score_NW, token_NW, rows_NW))
            state = select(state, rows_NW.flatten(), staying)
        elif not torch.equal(rows_NW.flatten(), torch.arange(sentences * beams, device=start.device)):
            state = select(state, rows_NW.flatten())
        logits_BTV, state = step(token_NW.reshape(-1, 1), state)

    for sentence, hypotheses in enumerate(found):
        if not hypotheses:
            raise ValueError(f"no text of sentence {sentence} has a probability above zero; are the logits numbers?")
    return [best_first(hypotheses)[:n_best] for hypotheses in found]


def continuations(score_NW: Tensor, logp_BV: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return score, parent and token of the `count` best continuations of each sentence, best first, N C.

    Where there are fewer, the rest has the score −∞.
    """
    sentences, beams = score_NW.shape
    # Compare within a sentence by the distance from its best hypothesis: long sums would round small differences away.
    ahead_N1 = score_NW[:, :1]
    score_NWV = logp_BV.view(sentences, beams, -1).add_((score_NW - ahead_N1)[:, :, None])
    score_NC, at_NC = score_NWV.flatten(1).topk(min(count, score_NWV[0].numel()))
    missing = count - score_NC.shape[1]
    score_NC, at_NC = pad(score_NC + ahead_N1, (0, missing), value=-math.inf), pad(at_NC, (0, missing))
    vocabulary = score_NWV.shape[-1]
    return score_NC, at_NC // vocabulary, at_NC % vocabulary


def check(width: int, length_penalty: float, n_best: int) -> None:
    if width < 1:
        raise ValueError(f"width is {width}, but a beam keeps at least 1 hypothesis")
    if not 1 <= n_best <= width:
        raise ValueError(f"n_best is {n_best}, but must be from 1 to the width of the beam, {width}")
    if not -10 <= length_penalty <= 10:
        raise ValueError(
            f"length_penalty is {length_penalty}, but must lie between -10 and 10; 0.6 is usual, 0 is none"
        )
