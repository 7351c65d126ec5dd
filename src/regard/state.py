"""What passes between encoder, decoder and search: a value.

A state holds each sentence's memory once, beside what belongs to the hypotheses. With N sentences and W hypotheses of
each, the rows of the memory are the N sentences, those of the past the B = N·W hypotheses: row n·W + w is the w-th
hypothesis of sentence n. A beam reorders the past at every step; memory rows move only when sentences leave.
"""

from typing import Any, NamedTuple

from torch import Tensor


class State(NamedTuple):
    """Nested tuples, lists and dicts of tensors, batch first. None and plain numbers belong to no row.

    A kernel that keeps its own buffers is a leaf too, as long as it has `select(rows)`, which returns a new value.
    """

    memory: Any
    """What the encoder handed over, one row a sentence; None for a language model."""
    past: Any
    """What the decoder carries from token to token, one row a hypothesis."""


def select(state: State, rows: Tensor, sentences: Tensor | None = None) -> State:
    """Return the state of these hypothesis rows (repeats are allowed); memory moves only for given `sentences`."""
    memory = state.memory if sentences is None else _select(state.memory, sentences)
    return State(memory, _select(state.past, rows))


def _select(part: Any, rows: Tensor) -> Any:
    if isinstance(part, Tensor):
        return part.index_select(0, rows)
    if hasattr(part, "select"):
        return part.select(rows)
    if isinstance(part, dict):
        return {name: _select(value, rows) for name, value in part.items()}
    if isinstance(part, tuple) and hasattr(part, "_fields"):
        return type(part)(*(_select(value, rows) for value in part))
    if isinstance(part, tuple | list):
        return type(part)(_select(value, rows) for value in part)
    assert part is None or isinstance(part, int | float | str), f"a state cannot hold a {type(part).__name__}"
    return part
