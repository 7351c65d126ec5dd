"""Attention against PyTorch's own, over 1,000 random shapes and masks, and against plain loops."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.testing import assert_close

from regard.attention import Attention, KeyValues, Mask, ScaledDot, attend, causal, kernels
from regard.attention.masks import Lengths
from regard.trace import trace
from tests.small import randomised

CASES = 1000
# Two ways through some hundred roundings; contexts are about one.
TOLERANCE = {torch.float64: 1e-12, torch.float32: 5e-6}
both_types = pytest.mark.parametrize("dtype", TOLERANCE, ids=str)


def pick(chance: torch.Generator, low: int, high: int) -> int:
    return int(torch.randint(low, high + 1, (), generator=chance))


def random_mask(chance: torch.Generator, shape: tuple[int, int, int, int]) -> tuple[Mask | Tensor | None, Tensor]:
    """Return a mask, of the kinds that a model uses or any table, and its table, which may have empty rows."""
    B, H, T, S = shape
    everything = torch.ones(B, H, T, S, dtype=torch.bool)
    match pick(chance, 0, 5):
        case 0:
            return None, everything
        case 1 if T <= S:
            return causal, everything.tril(S - T)
        case 2:
            lengths = torch.randint(0, S + 1, (B,), generator=chance)
            return Lengths(lengths), everything & (torch.arange(S) < lengths[:, None, None, None])
        case 3 if T <= S:
            lengths = torch.randint(0, S + 1, (B,), generator=chance)
            there = torch.arange(S) < lengths[:, None, None, None]
            return causal & there, everything.tril(S - T) & there
        case _:
            axes = [size if pick(chance, 0, 2) else 1 for size in shape]
            table = torch.rand(axes, generator=chance) < [0.2, 0.5, 0.9][pick(chance, 0, 2)]
            return table, everything & table


@both_types
def test_attend_equals_scaled_dot_product_attention(dtype: torch.dtype) -> None:
    chance = torch.Generator().manual_seed(0)
    empty = 0
    for _ in range(CASES):
        B, H, T, S = (pick(chance, 1, most) for most in (4, 4, 9, 11))
        E, W = pick(chance, 1, 16), pick(chance, 1, 16)
        q, k, v = (
            torch.randn(B, H, *sizes, generator=chance, dtype=torch.float64).to(dtype)
            for sizes in ((T, E), (S, E), (S, W))
        )
        mask, table = random_mask(chance, (B, H, T, S))
        nothing = ~table.any(-1)
        # What PyTorch returns for rows with nothing to see differs; ours are zero.
        theirs = functional.scaled_dot_product_attention(q, k, v, attn_mask=table | nothing[..., None])
        expected = theirs.masked_fill(nothing[..., None], 0.0)
        explicit = attend(q, KeyValues(k, v), score=ScaledDot(H, E, E), mask=mask)
        fused = kernels.flash(q, KeyValues(k, v), mask)
        for found in (explicit, fused):
            assert_close(found, expected, atol=TOLERANCE[dtype], rtol=0)
            assert not found[nothing].any()
        empty += int(nothing.any())
    assert empty > CASES / 10


@both_types
def test_attention_equals_multihead_attention(dtype: torch.dtype) -> None:
    chance = torch.Generator().manual_seed(1)
    empty = 0
    for case in range(CASES):
        B, T, S, heads = pick(chance, 1, 4), pick(chance, 1, 9), pick(chance, 1, 11), pick(chance, 1, 4)
        width = heads * pick(chance, 1, 8)
        crossed, bias = bool(pick(chance, 0, 1)), bool(pick(chance, 0, 3))
        memory_width = pick(chance, 1, 20) if crossed else width
        if not crossed:
            S = T
        ours = Attention(heads, width, memory_width=memory_width, bias=bias).to(dtype)
        theirs = nn.MultiheadAttention(
            width, heads, bias=bias, kdim=memory_width, vdim=memory_width, batch_first=True, dtype=dtype
        ).eval()
        copy(randomised(ours, case), theirs)
        x = torch.randn(B, T, width, generator=chance, dtype=torch.float64).to(dtype)
        memory = torch.randn(B, S, memory_width, generator=chance, dtype=torch.float64).to(dtype) if crossed else x
        mask, table = random_mask(chance, (B, heads, T, S))
        nothing = ~table.any(-1)
        with torch.no_grad():
            expected, weights = theirs(
                x,
                memory,
                memory,
                # Theirs marks what is hidden.
                attn_mask=(~(table | nothing[..., None])).flatten(0, 1),
                average_attn_weights=False,
            )
            with trace(ours) as seen:
                found = ours(x, ours.keys_values(memory), mask)
            quick = ours(x, ours.keys_values(memory), mask)
        assert_close(seen["weights"], weights.masked_fill(nothing[..., None], 0.0), atol=TOLERANCE[dtype], rtol=0)
        # Where no head has anything to look at, only the bias of the output is left.
        full, none = ~nothing.any(1), nothing.all(1)
        alone = ours.output.bias if bias else torch.zeros(width, dtype=dtype)
        for y in (found, quick):
            assert_close(y[full], expected[full], atol=TOLERANCE[dtype], rtol=0)
            assert torch.equal(y[none], alone.expand(int(none.sum()), -1))
        empty += int(none.any())
    assert empty > CASES / 20


def copy(ours: Attention, theirs: nn.MultiheadAttention) -> None:
    """Give PyTorch's layer our parameters."""
    matrices = [linear.weight for linear in (ours.query, ours.key, ours.value)]
    with torch.no_grad():
        if theirs.in_proj_weight is not None:
            theirs.in_proj_weight.copy_(torch.cat(matrices))
        else:
            for name, matrix in zip("qkv", matrices, strict=True):
                getattr(theirs, f"{name}_proj_weight").copy_(matrix)
        theirs.out_proj.weight.copy_(ours.output.weight)
        if ours.output.bias is not None:
            assert theirs.in_proj_bias is not None
            theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in (ours.query, ours.key, ours.value)]))
            theirs.out_proj.bias.copy_(ours.output.bias)


def walked(attention: Attention, x_TD: Tensor, memory_SD: Tensor, allowed: Tensor) -> Tensor:
    """Return multi-head attention of one sentence, one head and one query after another, by the slide."""
    size = attention.query.weight.shape[0] // attention.heads
    rows = []
    for t, x_D in enumerate(x_TD):
        heads = []
        for h in range(attention.heads):
            part = slice(h * size, (h + 1) * size)

            def project(linear: nn.Linear, z_D: Tensor, part: slice = part) -> Tensor:
                return linear.weight[part] @ z_D + linear.bias[part]

            q = project(attention.query, x_D)
            seen = [s for s in range(len(memory_SD)) if allowed[t, s]]
            e = [float(q @ project(attention.key, memory_SD[s])) / math.sqrt(size) for s in seen]
            total = sum(math.exp(one) for one in e)
            context = torch.zeros(size, dtype=x_D.dtype)
            for s, one in zip(seen, e, strict=True):
                context = context + math.exp(one) / total * project(attention.value, memory_SD[s])
            heads.append(context)
        rows.append(attention.output.weight @ torch.cat(heads) + attention.output.bias)
    return torch.stack(rows)


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_attention_equals_a_walk_through_every_query_and_key(heads: int) -> None:
    chance = torch.Generator().manual_seed(heads)
    for case in range(10):
        attention = randomised(Attention(heads, 6, memory_width=5).double(), case)
        x_TD = torch.randn(4, 6, generator=chance, dtype=torch.float64)
        memory_SD = torch.randn(5, 5, generator=chance, dtype=torch.float64)
        allowed = torch.rand(4, 5, generator=chance) < 0.6
        with torch.no_grad():
            found = attention(x_TD[None], attention.keys_values(memory_SD[None]), allowed[None, None])[0]
            assert_close(found, walked(attention, x_TD, memory_SD, allowed), atol=1e-12, rtol=0)
