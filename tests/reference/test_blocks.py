"""Encoder and decoder layers against PyTorch's own, weights copied."""

from typing import Literal

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from regard.attention import Attention, Lengths, Past
from regard.layers import Activation, FeedForward, Norm, Residual
from regard.models.transformer import DecoderLayer, EncoderLayer, Sizes
from tests.small import randomised

# A layer normalises, so that results are about one; the roundings of the two ways add up to some tens.
TOLERANCE = {torch.float64: 1e-12, torch.float32: 5e-6}
WIDTH, INNER, HEADS = 16, 40, 4

every_layer = pytest.mark.parametrize(
    ("norm", "activation", "dtype"),
    [(norm, act, dtype) for norm in ("post", "pre") for act in ("relu", "gelu") for dtype in TOLERANCE],
    ids=str,
)


def sizes(norm: Norm, activation: Activation) -> Sizes:
    return Sizes(9, width=WIDTH, inner=INNER, heads=HEADS, norm=norm, activation=activation, dropout=0.0)


def theirs(kind: Literal["Encoder", "Decoder"], norm: Norm, activation: Activation, dtype: torch.dtype) -> nn.Module:
    layer = nn.TransformerEncoderLayer if kind == "Encoder" else nn.TransformerDecoderLayer
    return layer(
        WIDTH, HEADS, INNER, 0.0, activation, batch_first=True, norm_first=norm == "pre", dtype=dtype
    ).train()  # no dropout; evaluating, PyTorch takes another way


def give(ours: nn.Module, their: nn.Module) -> None:
    """Copy the parameters of one of our parts into theirs."""
    with torch.no_grad():
        if isinstance(ours, Attention):
            assert isinstance(their, nn.MultiheadAttention)
            asks = (ours.query, ours.key, ours.value)
            their.in_proj_weight.copy_(torch.cat([linear.weight for linear in asks]))
            their.in_proj_bias.copy_(torch.cat([linear.bias for linear in asks]))
            give(ours.output, their.out_proj)
        else:
            for to, given in zip(their.parameters(), ours.parameters(), strict=True):
                to.copy_(given)


def give_layer(ours: EncoderLayer | DecoderLayer, their: nn.Module) -> None:
    residuals: list[Residual] = [ours.around_self]
    give(ours.self, their.self_attn)
    if isinstance(ours, DecoderLayer):
        give(ours.cross, their.multihead_attn)
        residuals.append(ours.around_cross)
    residuals.append(ours.around_feed_forward)
    feed_forward: FeedForward = ours.feed_forward
    give(feed_forward.inner, their.linear1)
    give(feed_forward.outer, their.linear2)
    for number, residual in enumerate(residuals, start=1):
        give(residual.norm, getattr(their, f"norm{number}"))


def inputs(rows: int, columns: int, dtype: torch.dtype, seed: int) -> Tensor:
    chance = torch.Generator().manual_seed(seed)
    return torch.randn(rows, columns, WIDTH, generator=chance, dtype=torch.float64).to(dtype).requires_grad_()


def assert_same(found: Tensor, expected: Tensor, given: list[Tensor], dtype: torch.dtype) -> None:
    """The same result, and the same gradients of a random mixture of it."""
    assert_close(found, expected, atol=TOLERANCE[dtype], rtol=0)
    upstream = inputs(found.shape[0], found.shape[1], dtype, seed=9).detach()
    for ours, other in zip(*(torch.autograd.grad(y, given, upstream) for y in (found, expected)), strict=True):
        # Gradients may be ten times as large as results.
        assert_close(ours, other, atol=10 * TOLERANCE[dtype], rtol=0)


@every_layer
def test_an_encoder_layer_equals_pytorchs(norm: Norm, activation: Activation, dtype: torch.dtype) -> None:
    for seed in range(5):
        ours = randomised(EncoderLayer(sizes(norm, activation)).to(dtype), seed)
        their = theirs("Encoder", norm, activation, dtype)
        give_layer(ours, their)
        x_BSD, lengths_B = inputs(3, 7, dtype, seed), torch.tensor([7, 1, 4])
        assert_same(ours(x_BSD, None), their(x_BSD), [x_BSD], dtype)
        there_BS = torch.arange(7) < lengths_B[:, None]
        found, expected = ours(x_BSD, Lengths(lengths_B)), their(x_BSD, src_key_padding_mask=~there_BS)
        # What stands in the padding is computed and never read.
        assert_same(found * there_BS[..., None], expected * there_BS[..., None], [x_BSD], dtype)


@every_layer
def test_a_decoder_layer_equals_pytorchs(norm: Norm, activation: Activation, dtype: torch.dtype) -> None:
    future = torch.ones(6, 6, dtype=torch.bool).triu(1)
    for seed in range(5):
        ours = randomised(DecoderLayer(sizes(norm, activation)).to(dtype), seed)
        their = theirs("Decoder", norm, activation, dtype)
        give_layer(ours, their)
        x_BTD, memory_BSD = inputs(3, 6, dtype, seed), inputs(3, 7, dtype, 100 + seed)
        lengths_B = torch.tensor([7, 1, 4])
        padding_BS = torch.arange(7) >= lengths_B[:, None]
        for mask, hidden in ((None, None), (Lengths(lengths_B), padding_BS)):
            found, past = ours(x_BTD, Past(), ours.cross.keys_values(memory_BSD), mask, None)
            expected = their(x_BTD, memory_BSD, tgt_mask=future, memory_key_padding_mask=hidden)
            assert_same(found, expected, [x_BTD, memory_BSD], dtype)
            assert past.length == 6


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_stack_of_encoder_layers_equals_pytorchs(norm: Norm) -> None:
    layers = [randomised(EncoderLayer(sizes(norm, "relu")).double(), seed) for seed in range(4)]
    stack = nn.TransformerEncoder(theirs("Encoder", norm, "relu", torch.float64), 4, enable_nested_tensor=False)
    for ours, their in zip(layers, stack.layers, strict=True):
        give_layer(ours, their)
    x_BSD = inputs(3, 7, torch.float64, 0)
    y_BSD = x_BSD
    for layer in layers:
        y_BSD = layer(y_BSD, None)
    assert_same(y_BSD, stack(x_BSD), [x_BSD], torch.float64)
