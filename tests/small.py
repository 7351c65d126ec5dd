"""Small Transformers with random parameters, biases and norms included, as after training."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn

from regard.models.encoder_decoder import EncoderDecoder, Memory
from regard.models.transformer import Decoder, Encoder, Sizes, transformer

M = TypeVar("M", bound=nn.Module)

# What makes one Transformer differ from another.
VARIANTS: dict[str, dict[str, Any]] = {
    "post-norm": {},
    "pre-norm": {"norm": "pre"},
    "gelu": {"norm": "pre", "activation": "gelu"},
    "dot": {"score": "dot", "heads": 1},
    "tensor2tensor": {"positions": "tensor2tensor", "position_start": 1},
    "learned": {"positions": "learned", "longest": 64, "norm": "pre"},
    "no positions": {"positions": "none"},
    "concatenated": {"combine": "concatenate", "tied": False, "positions": "concatenated"},
    "two vocabularies": {"source_vocabulary": 17, "norm": "pre"},
    "untied": {"tied": False, "encoder_layers": 1, "decoder_layers": 3},
}


class Small(EncoderDecoder):
    """A Transformer, as the type checker is to know it."""

    encoder: Encoder
    decoder: Decoder


def small(seed: int = 0, **sizes: Any) -> Small:
    """Return a Transformer to ask: two layers, eight wide, unless other sizes are given."""
    usual = {"vocabulary": 23, "width": 8, "inner": 12, "heads": 2, "encoder_layers": 2, "decoder_layers": 2}
    return cast(Small, randomised(transformer(Sizes(**{**usual, "dropout": 0.0, **sizes})), seed).eval())


def randomised(model: M, seed: int = 0) -> M:
    """Return the model with random parameters: biases and norms off where they start, attention not too even."""
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=chance, dtype=torch.float64)
            if parameter.dim() == 1:
                parameter.add_(0.2 * noise)
            else:
                parameter.copy_(1.5 * parameter.shape[-1] ** -0.5 * noise)
    return model


@contextmanager
def double() -> Iterator[None]:
    """Make new tensors float64: models built within compute in it, positions included."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def tokens(rows: int, columns: int, seed: int = 0, vocabulary: int = 17) -> Tensor:
    """Return random ids that are no specials."""
    return torch.randint(4, vocabulary, (rows, columns), generator=torch.Generator().manual_seed(seed))


def memory(model: Small, source_BS: Tensor, lengths_B: Tensor | None = None) -> Memory:
    found: Memory = model.encoder(source_BS, lengths_B)
    return found


def noise(*shape: int, seed: int = 0) -> Tensor:
    """Return random numbers of any size and either sign, of the type that new tensors have."""
    chance = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=chance, dtype=torch.float64).to(torch.get_default_dtype())
