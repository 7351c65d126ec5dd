"""The one attention of the house: scores, masks, positions, heads, and the faster kernels."""

from regard.attention.core import KeyValues, Softmax, attend, softmax, weighted_sum
from regard.attention.heads import Attention
from regard.attention.kernels import Past
from regard.attention.masks import Causal, Lengths, Mask, Segments, Window, causal
from regard.attention.positions import Learned, Nowhere, Sinusoidal
from regard.attention.scores import Dot, ScaledDot, Score

__all__ = [
    "Attention",
    "Causal",
    "Dot",
    "KeyValues",
    "Learned",
    "Lengths",
    "Mask",
    "Nowhere",
    "Past",
    "ScaledDot",
    "Score",
    "Segments",
    "Sinusoidal",
    "Softmax",
    "Window",
    "attend",
    "causal",
    "softmax",
    "weighted_sum",
]
