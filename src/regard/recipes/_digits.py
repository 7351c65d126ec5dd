"""What copy, reverse and sort share: a small Transformer over ten digits."""

from typing import Literal

from torch import nn

from regard.data.digits import Digits
from regard.models.transformer import Sizes, transformer
from regard.tasks.translation import Translation
from regard.training.plan import Plan
from regard.training.recipe import Recipe

PLAN = Plan(steps=1500, batch=1000, rate=5e-3, warmup=100, look_every=300, save_every=50, average="last:3")


def rewriting(
    order: Literal["copy", "reverse", "sort"], *, longest: int, layers: int, width: int, heads: int
) -> Recipe:
    """Return the recipe that writes digits in another order."""
    task = Translation(Digits(order, longest=longest), vocabulary=14, kind="word", smoothing=0.0, judge="exact")

    def build(sizes: dict[str, int]) -> nn.Module:
        return transformer(
            Sizes(
                sizes["vocabulary"],
                width=width,
                inner=2 * width,
                heads=heads,
                encoder_layers=layers,
                decoder_layers=layers,
                dropout=0.0,
                norm="pre",
                # Beside the digits rather than added to them: a row of equal digits differs in nothing but its places.
                combine="concatenate",
                tied=False,
            )
        )

    return Recipe(task, build, PLAN)
