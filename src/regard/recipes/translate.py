"""Translate with the Transformer of *Attention Is All You Need* (all five lectures).

Multi30k, two cores: 34 minutes, BLEU 39.75.    regard train translate --data multi30k --source en --target de
Multi30k, one core: 51 minutes, BLEU 60.34.    regard train translate --data multi30k --target fr --threads 1
"""

from typing import Any, Literal

from torch import nn

from regard.data.source import SCENES, Source
from regard.models.transformer import Sizes, transformer
from regard.tasks.translation import Translation
from regard.training.plan import Plan
from regard.training.recipe import Recipe

Size = Literal["tiny", "small", "base", "big"]
Kind = Literal["bpe", "unigram", "word", "character"]
Norm = Literal["post", "pre"]
Activation = Literal["relu", "gelu"]
Positions = Literal["interleaved", "concatenated", "tensor2tensor", "learned", "none"]
Combine = Literal["add", "concatenate"]

SHAPES: dict[str, dict[str, Any]] = {
    "tiny": {"layers": 4, "width": 128, "inner": 256, "heads": 4, "dropout": 0.3, "vocabulary": 10000, "norm": "pre"},
    "small": {"layers": 3, "width": 256, "inner": 1024, "heads": 4, "dropout": 0.2, "vocabulary": 8000, "norm": "pre"},
    "base": {"layers": 6, "width": 512, "inner": 2048, "heads": 8, "dropout": 0.1, "vocabulary": 32000, "norm": "post"},
    "big": {
        "layers": 6,
        "width": 1024,
        "inner": 4096,
        "heads": 16,
        "dropout": 0.3,
        "vocabulary": 32000,
        "norm": "post",
    },
}


def recipe(
    data: Source = SCENES,
    *,
    source: str = "en",  # the language that is read
    target: str = "fr",  # the language that is written
    size: Size = "tiny",  # where every number below starts from
    layers: int | None = None,  # layers of the encoder, and of the decoder
    decoder_layers: int | None = None,  # layers of the decoder, where they are not as many
    width: int | None = None,  # width of the vectors between the layers
    inner: int | None = None,  # width inside the feed-forward network
    heads: int | None = None,  # heads of every attention
    dropout: float | None = None,  # share of numbers dropped from every layer's result
    norm: Norm | None = None,  # normalise after the sum, as the paper does, or before the layer
    activation: Activation = "relu",  # of the feed-forward network
    score: str = "scaled",  # how a key answers a query
    positions: Positions = "interleaved",  # where a token stands: sinusoids in a layout, learned, or none
    position_start: int = 0,  # the number of the first position
    positions_longest: int = 512,  # length of the learned table
    combine: Combine = "add",  # positions are added to the tokens, or written beside them
    tied: bool = True,  # one table for source, target and output
    vocabulary: int | None = None,  # tokens at most, the four special ones included
    kind: Kind = "bpe",  # what a token is
    joint: bool = True,  # one vocabulary for both languages
    smoothing: float = 0.1,  # share of the label spread over the vocabulary
    longest: int = 256,  # pairs with more tokens on a side are left out of training
) -> Recipe:
    shape = SHAPES[size]
    embedded = data == SCENES and size in ("tiny", "small")
    if embedded:
        # Scenes is a small language with no end of examples: there is little to guard against learning by heart.
        shape = {**shape, "vocabulary": 1000, "dropout": 0.1}
    given = {"layers": layers, "width": width, "inner": inner, "heads": heads, "dropout": dropout, "norm": norm}
    shape = {**shape, **{name: value for name, value in given.items() if value is not None}}
    task = Translation(
        data.parallel(source, target),
        vocabulary=shape["vocabulary"] if vocabulary is None else vocabulary,
        kind=kind,
        joint=joint,
        smoothing=smoothing,
        longest=longest,
    )

    def build(sizes: dict[str, int]) -> nn.Module:
        return transformer(
            Sizes(
                sizes["vocabulary"],
                sizes.get("source_vocabulary"),
                width=shape["width"],
                inner=shape["inner"],
                heads=shape["heads"],
                encoder_layers=shape["layers"],
                decoder_layers=shape["layers"] if decoder_layers is None else decoder_layers,
                dropout=shape["dropout"],
                norm=shape["norm"],
                activation=activation,
                score=score,
                positions=positions,
                position_start=position_start,
                longest=positions_longest,
                combine=combine,
                tied=tied,
            )
        )

    return Recipe(task, build, SCENES_PLAN if embedded else plan(size, shape["width"]))


SCENES_PLAN = Plan(
    steps=3000,
    batch=3000,
    rate=3e-3,
    warmup=200,
    precision="bfloat16",
    look_every=500,
    save_every=100,
    average="last:5",
    keep=5,
)


def plan(size: Size, width: int) -> Plan:
    """Return how a size is trained: small data by a cosine, large data as the paper does."""
    if size in ("tiny", "small"):
        return Plan(
            steps=7000,
            batch=4096,
            rate=5e-3 if size == "tiny" else 2e-3,
            warmup=1000,
            precision="bfloat16",
            look_every=500,
            save_every=175,
            average="last:10",
            keep=10,
        )
    warmup = 4000
    return Plan(
        steps=100_000,
        batch=25_000,
        rate=width**-0.5 * warmup**-0.5,
        schedule="paper",
        warmup=warmup,
        clip=0.0,
        look_every=2000,
        save_every=1000,
        average="last:5",
        keep=5,
    )
