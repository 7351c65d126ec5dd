"""A number and how it was computed."""

from typing import NamedTuple


class Score(NamedTuple):
    value: float
    signature: str = ""
