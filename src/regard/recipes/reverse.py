"""Write a row of digits backwards: cross-attention draws the anti-diagonal.

1,000 unseen rows: 47 s on one core, exact match 100 %.    regard train reverse
"""

from regard.recipes._digits import rewriting
from regard.training.recipe import Recipe


def recipe(
    *,
    longest: int = 16,  # the most digits in a row
    layers: int = 2,  # layers of the encoder, and of the decoder
    width: int = 64,  # width of the vectors between the layers
    heads: int = 4,  # heads of every attention
) -> Recipe:
    return rewriting("reverse", longest=longest, layers=layers, width=width, heads=heads)
