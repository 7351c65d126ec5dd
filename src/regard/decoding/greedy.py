"""Greedy search: at every place the likeliest id, argmax p(id | ids before)."""

from torch import Tensor

from regard.decoding.contract import Hypotheses, Limits, Step, likeliest
from regard.decoding.walk import walk
from regard.state import State


def search(step: Step, state: State, start: Tensor, limits: Limits) -> Hypotheses:
    """Return one hypothesis of each sentence; a beam of width one finds the same."""
    return walk(step, state, start, limits, lambda logp_BV, number_B, place: likeliest(logp_BV))
