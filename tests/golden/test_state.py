"""Selecting rows of a small state."""

from typing import NamedTuple

import torch
from torch import Tensor

from regard.state import State, select


class Layer(NamedTuple):
    keys: Tensor
    name: str


class Buffer:
    """A leaf that keeps its own rows."""

    def __init__(self, rows: list[int]) -> None:
        self.rows = rows

    def select(self, rows: Tensor) -> "Buffer":
        return Buffer([self.rows[row] for row in rows.tolist()])


def state() -> State:
    return State(
        memory=(torch.tensor([[10], [20]]), {"lengths": torch.tensor([1, 2]), "empty": None}),
        past=[Layer(torch.tensor([[1], [2], [3], [4]]), "self"), {"buffer": Buffer([1, 2, 3, 4]), "place": 7}],
    )


def test_rows_select_hypotheses_and_leave_the_memory_itself() -> None:
    before = state()
    after = select(before, torch.tensor([1, 1, 2, 3]))
    layer, rest = after.past
    assert isinstance(after, State)
    assert isinstance(layer, Layer)
    assert layer.keys.tolist() == [[2], [2], [3], [4]]
    assert layer.name == "self"
    assert rest["buffer"].rows == [2, 2, 3, 4]
    assert rest["place"] == 7
    assert after.memory is before.memory


def test_sentences_select_the_memory() -> None:
    after = select(state(), torch.tensor([2, 3]), torch.tensor([1]))
    keys, rest = after.memory
    assert keys.tolist() == [[20]]
    assert rest["lengths"].tolist() == [2]
    assert rest["empty"] is None
    assert after.past[0].keys.tolist() == [[3], [4]]


def test_selecting_leaves_the_state_as_it_was() -> None:
    before = state()
    after = select(before, torch.tensor([0, 1, 2, 3]), torch.tensor([0, 1]))
    after.past[0].keys.fill_(0)
    after.memory[0].fill_(0)
    assert before.past[0].keys.tolist() == [[1], [2], [3], [4]]
    assert before.memory[0].tolist() == [[10], [20]]


def test_a_language_model_has_no_memory() -> None:
    after = select(State(None, torch.tensor([5, 6])), torch.tensor([1]), torch.tensor([1]))
    assert after.memory is None
    assert after.past.tolist() == [6]
