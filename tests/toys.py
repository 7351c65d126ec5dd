"""A toy language model, small enough to enumerate, whose state shows every wrong row."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from regard.state import State

PAD, START, END = 0, 1, 2
CODES = 997


class Past(NamedTuple):
    owner_B: Tensor
    """The sentence that each hypothesis belongs to: a step refuses rows that stand beside another's memory."""
    code_B: Tensor
    """A digest of everything that was read."""


class Toy:
    """Its logits are random, but fixed by the sentence and by everything read so far.

    `calls` notes how many hypotheses and how many new tokens came at each step.
    """

    def __init__(self, vocabulary: int = 7, seed: int = 0, sharpness: float = 1.5, end: float = 0.0) -> None:
        table_KV = sharpness * torch.randn(CODES, vocabulary, generator=torch.Generator().manual_seed(seed))
        table_KV[:, END] += end
        self.table_KV = table_KV
        self.calls: list[tuple[int, int]] = []

    def start(self, sentences: Sequence[int]) -> State:
        keys_N = torch.tensor(sentences)
        return State(memory={"keys": (keys_N, None)}, past=[Past(keys_N, keys_N * 0), {"nothing": None, "number": 3}])

    def step(self, tokens_BT: Tensor, state: State) -> tuple[Tensor, State]:
        self.calls.append((tokens_BT.shape[0], tokens_BT.shape[1]))
        assert not torch.is_grad_enabled()
        (keys_N, _), (past, rest) = state.memory["keys"], state.past
        key_B = keys_N.repeat_interleave(len(tokens_BT) // len(keys_N))
        assert torch.equal(key_B, past.owner_B), "a hypothesis stands beside the memory of another sentence"
        logits = []
        code_B = past.code_B
        for token_B in tokens_BT.T:
            code_B = self.read(code_B, token_B, key_B)
            logits.append(self.table_KV[code_B])
        return torch.stack(logits, dim=1), State(state.memory, [past._replace(code_B=code_B), rest])

    def read(self, code: Tensor | int, token: Tensor | int, key: Tensor | int) -> Tensor | int:
        return (code * 31 + token * 7 + key * 13 + 5) % CODES

    def score(self, sentence: int, ids: Sequence[int]) -> float:
        """Return the log-probability of these ids: the definition, one row, in double precision."""
        return sum(float(logp_V[token]) for logp_V, token in zip(self.walk(sentence, ids), ids, strict=True))

    def walk(self, sentence: int, ids: Sequence[int]) -> Iterator[Tensor]:
        """Yield the log-probabilities of the place of each id."""
        code: Tensor | int = 0
        for token in [START, *ids][: len(ids)]:
            code = self.read(code, token, sentence)
            yield self.table_KV[int(code)].double().log_softmax(-1)


def starts(sentences: Sequence[int]) -> Tensor:
    return torch.full((len(sentences),), START)
