"""What every search is given and what it returns; the bookkeeping that searches share.

A search asks `step` for the logits of the next id and chooses. It knows neither the model nor the vocabulary:

    search(step, state, start, limits, *, <options>) -> Hypotheses

The score of a hypothesis is Σ log p(id | ids before), p = softmax of the raw logits over the whole vocabulary, in
float32: whatever a search forbids, forces or reweights, the score is the model's own. Length penalty: GNMT (Wu et al.
2016, eq. 14) as in *Attention Is All You Need*, score / ((5 + L) / 6)^α, L counting the produced ids, the end included.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from regard.state import State

# Leaving costs a copy of every row that stays: finished sentences leave when at most so many of the rows are needed.
WORTHWHILE = 0.75


class Step(Protocol):
    """Read tokens after the state's past: return the logits of what follows each of them, and the state after them."""

    def __call__(self, tokens_BT: Tensor, state: State, /) -> tuple[Tensor, State]: ...


class Hypothesis(NamedTuple):
    ids: list[int]
    """The produced ids, the end included."""
    score: float
    """The sum of their log-probabilities under the model."""
    penalised: float
    """The score divided by the length penalty: what n-best lists are ordered by."""


Hypotheses = list[list[Hypothesis]]
"""For each sentence its hypotheses, best first."""


@dataclass(frozen=True)
class Limits:
    """What a search may produce for each sentence."""

    longest: Sequence[int]
    """The most ids of each sentence, the end included; at the last place the end is forced."""
    end: int
    never: tuple[int, ...] = ()
    """Ids that are never chosen. What is forced comes all the same."""
    prefix: Sequence[Sequence[int]] | None = None
    """The ids each sentence is forced to begin with; they count and are scored."""

    def __post_init__(self) -> None:
        for sentence, longest in enumerate(self.longest):
            if longest < 1:
                raise ValueError(f"sentence {sentence} may have {longest} ids, but needs at least 1, the end")
        if self.prefix is None:
            return
        if len(self.prefix) != len(self.longest):
            raise ValueError(f"{len(self.prefix)} prefixes came for {len(self.longest)} sentences; give one for each")
        for sentence, (ids, longest) in enumerate(zip(self.prefix, self.longest, strict=True)):
            if len(ids) >= longest:
                raise ValueError(
                    f"the prefix of sentence {sentence} has {len(ids)} ids, which leaves no room for the end within "
                    f"{longest}; shorten the prefix or allow more ids"
                )
            if self.end in ids:
                raise ValueError(f"the prefix of sentence {sentence} holds the end ({self.end}); leave it out")


class Live(NamedTuple):
    """The sentences still in the batch and what their limits demand, one row each."""

    number_N: Tensor
    """Which of the caller's sentences each row is."""
    longest_N: Tensor
    prefix_NT: Tensor
    """The forced beginnings, −1 behind them."""
    done_N: Tensor
    """A finished sentence may ride along for some steps before it leaves."""

    def select(self, rows: Tensor) -> "Live":
        return Live(*(part[rows] for part in self))

    def forced(self, place: int, end: int) -> Tensor:
        """Return the id that must stand at this place of each sentence, −1 where the search is free."""
        free_N = torch.full_like(self.longest_N, -1)
        forced_N = self.prefix_NT[:, place] if place < self.prefix_NT.shape[1] else free_N
        return forced_N.masked_fill(self.longest_N == place + 1, end)

    def staying(self, length: int) -> Tensor | None:
        """Return the rows to keep after `length` ids, or None as long as finished sentences may ride along.

        A sentence never rides beyond its own limit: the model may have no position there.
        """
        late_N = self.done_N & (self.longest_N <= length)
        done, late = torch.stack([self.done_N.sum(), late_N.sum()]).tolist()
        rows = len(self.done_N)
        if late or rows - done <= WORTHWHILE * rows:
            return (~self.done_N).nonzero().squeeze(1)
        return None


def begin(start: Tensor, limits: Limits) -> tuple[Live, Tensor]:
    """Return the live sentences and the first tokens_NT to feed: start, and as much prefix as every sentence has."""
    sentences, device = len(limits.longest), start.device
    if start.shape != (sentences,):
        raise ValueError(f"start has shape {tuple(start.shape)}, but the limits are those of {sentences} sentences")
    prefixes = limits.prefix if limits.prefix is not None else [()] * sentences
    width = max(map(len, prefixes), default=0)
    padded = [[*ids, *[-1] * (width - len(ids))] for ids in prefixes]
    live = Live(
        number_N=torch.arange(sentences, device=device),
        longest_N=torch.tensor(list(limits.longest), dtype=torch.long, device=device),
        prefix_NT=torch.tensor(padded, dtype=torch.long, device=device).view(sentences, width),
        done_N=torch.zeros(sentences, dtype=torch.bool, device=device),
    )
    shared = min(map(len, prefixes), default=0)
    return live, torch.cat([start[:, None], live.prefix_NT[:, :shared]], dim=1)


def log_probabilities(logits_BTV: Tensor, ids_BT: Tensor) -> Tensor:
    """Return the log-probability of each id under the logits of its place, B T."""
    logp_BTV = logits_BTV.float().log_softmax(-1)
    return logp_BTV.gather(-1, ids_BT[..., None]).squeeze(-1)


def choices(logits_BV: Tensor, forced_B: Tensor, never: Sequence[int]) -> Tensor:
    """Return the log-probabilities of what may come next, B V: −∞ for all but the forced id, and for what never comes.

    They are normalised over the whole vocabulary, before anything is forbidden. A forced id that the model holds for
    impossible has −1e30: the text lives on with a score that says so.
    """
    logp_BV = logits_BV.float().log_softmax(-1)
    rows = (forced_B >= 0).nonzero().squeeze(1)
    ids = forced_B[rows]
    kept = logp_BV[rows, ids].clamp(min=-1e30)
    if never:
        logp_BV[:, list(never)] = -math.inf
    if len(rows):
        logp_BV[rows] = -math.inf
        logp_BV[rows, ids] = kept
    return logp_BV


def likeliest(logp_BV: Tensor) -> Tensor:
    """Return the likeliest id of each row.

    topk leaves open which of several equals comes first. Asking for two, as a beam of width one does, keeps both equal.
    """
    return logp_BV.topk(min(2, logp_BV.shape[-1])).indices[:, 0]


def penalty(length: float, alpha: float) -> float:
    """Return ((5 + L) / 6)^α, which divides the score of a hypothesis of L ids."""
    return float(((5 + length) / 6) ** alpha)


def hypothesis(ids: list[int], score: float, alpha: float = 0.0) -> Hypothesis:
    return Hypothesis(ids, score, score / penalty(len(ids), alpha))


def best_first(hypotheses: list[Hypothesis]) -> list[Hypothesis]:
    return sorted(hypotheses, key=lambda one: one.penalised, reverse=True)
