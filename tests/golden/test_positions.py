"""Positions worked on paper: the rows of the lectures, and the properties that they are wanted for."""

import math
from collections.abc import Iterator
from typing import get_args

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from regard.attention import Learned, Nowhere, Sinusoidal
from regard.attention.positions import Layout
from regard.layers import Combine, Embedding

LAYOUTS = get_args(Layout)
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    """Compute in float64: positions come in the type that new tensors have."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def rows(positions: nn.Module, count: int) -> Tensor:
    found: Tensor = positions(torch.arange(count)[None])
    return found[0]


# The tables of the lectures, four wide; printed with four decimals.


def test_interleaved_is_the_papers_formula() -> None:
    expected = [
        [0, 1, 0, 1],
        [0.8415, 0.5403, 0.0100, 1.0000],
        [0.9093, -0.4161, 0.0200, 0.9998],
        [0.1411, -0.9900, 0.0300, 0.9996],
    ]
    assert_close(rows(Sinusoidal(4, "interleaved"), 4), torch.tensor(expected), atol=5e-5, rtol=0)


def test_concatenated_has_all_sines_first() -> None:
    expected = [[0, 0, 1, 1], [0.8415, 0.0100, 0.5403, 1.0000], [0.9093, 0.0200, -0.4161, 0.9998]]
    assert_close(rows(Sinusoidal(4, "concatenated"), 3), torch.tensor(expected), atol=5e-5, rtol=0)


def test_tensor2tensor_ends_with_the_longest_wave() -> None:
    # Two frequencies: exp(0) and exp(−ln 10000 / (2 − 1)) = 1/10000.
    expected = [[0, 0, 1, 1], [0.8415, 0.0001, 0.5403, 1.0000], [0.9093, 0.0002, -0.4161, 1.0000]]
    assert_close(rows(Sinusoidal(4, "tensor2tensor"), 3), torch.tensor(expected), atol=5e-5, rtol=0)


def test_the_first_wave_is_two_pi_long() -> None:
    # A lecture counts ω_k = 1/10000^(2k/d) from k = 1; from there d = 4 would begin with 0.01 instead of 1.
    assert_close(Sinusoidal(4).frequencies(), torch.tensor([1, 0.01]), atol=1e-15, rtol=0)
    assert_close(Sinusoidal(4, "tensor2tensor").frequencies(), torch.tensor([1, 0.0001]), atol=1e-15, rtol=0)


def test_interleaved_equals_the_formula_entry_by_entry() -> None:
    found = rows(Sinusoidal(64), 50)
    for place in range(50):
        for i in range(32):
            angle = place / 10_000 ** (2 * i / 64)
            # Frequencies come from exp, here from a power: both are right to 1e-15, times 50.
            assert float(found[place, 2 * i]) == pytest.approx(math.sin(angle), abs=1e-13)
            assert float(found[place, 2 * i + 1]) == pytest.approx(math.cos(angle), abs=1e-13)


def test_concatenated_permutes_the_columns_of_interleaved() -> None:
    interleaved = rows(Sinusoidal(512), 64)
    permuted = torch.cat([interleaved[:, 0::2], interleaved[:, 1::2]], dim=1)
    assert torch.equal(rows(Sinusoidal(512, "concatenated"), 64), permuted)


def test_tensor2tensor_is_no_permutation_of_the_paper() -> None:
    distance = rows(Sinusoidal(512, "tensor2tensor"), 64) - rows(Sinusoidal(512, "concatenated"), 64)
    assert float(distance.abs().max()) == pytest.approx(0.0895, abs=5e-5)


# What positions are wanted for (lecture 4): unique, bounded, consistent distances, never at an end.


@every_layout
@pytest.mark.parametrize("width", [4, 64, 512])
def test_the_squared_length_is_half_the_width(layout: Layout, width: int) -> None:
    x = rows(Sinusoidal(width, layout), 100)
    assert_close(x.square().sum(-1), torch.full((100,), width / 2), atol=1e-11, rtol=0)  # a sum of 512 roundings


@every_layout
def test_a_start_of_one_moves_every_row_by_one(layout: Layout) -> None:
    assert torch.equal(rows(Sinusoidal(16, layout, start=1), 9), rows(Sinusoidal(16, layout), 10)[1:])


@every_layout
def test_ten_thousand_positions_are_bounded_and_all_differ(layout: Layout) -> None:
    x = rows(Sinusoidal(64, layout), 10_000)
    assert float(x.abs().max()) <= 1
    assert len(torch.unique(x.round(decimals=5), dim=0)) == 10_000


@every_layout
@pytest.mark.parametrize("distance", [1, 7, 100])
def test_what_two_positions_have_in_common_depends_on_their_distance_only(layout: Layout, distance: int) -> None:
    # sin a sin b + cos a cos b = cos(a − b): the same at every place, to 1e-9.
    x = rows(Sinusoidal(64, layout), 5000)
    common = (x[distance:] * x[:-distance]).sum(-1)
    expected = torch.cos(distance * Sinusoidal(64, layout).frequencies()).sum()
    assert_close(common, expected.expand_as(common), atol=1e-9, rtol=0)


def test_no_position_is_too_far_for_sines() -> None:
    torch.set_default_dtype(torch.float32)
    far = Sinusoidal(8)(torch.tensor([[1_000_000]]))[0, 0]
    # In float32 the angle itself would be off by up to 0.03; the result is right to its own rounding.
    expected = [f(1_000_000 / 10_000 ** (i / 4)) for i in range(4) for f in (math.sin, math.cos)]
    assert_close(far, torch.tensor(expected), atol=1e-7, rtol=0)


@pytest.mark.parametrize(("layout", "width"), [("interleaved", 5), ("concatenated", 3), ("tensor2tensor", 2)])
def test_a_width_without_pairs_is_refused(layout: Layout, width: int) -> None:
    with pytest.raises(ValueError, match=f"positions {width} wide cannot be {layout}: sines and cosines come in pairs"):
        Sinusoidal(width, layout)


def test_an_unknown_layout_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no layout 'zigzag'.* interleaved, concatenated, tensor2tensor"):
        Sinusoidal(4, "zigzag")


# Learned positions, and none.


def test_learned_positions_are_a_table_of_longest_times_width() -> None:
    positions = Learned(6, 50)
    assert sum(p.numel() for p in positions.parameters()) == 50 * 6
    found = positions(torch.tensor([[49, 0], [3, 3]]))
    assert torch.equal(found.view(4, 6), positions.table[[49, 0, 3, 3]])


def test_a_position_beyond_the_learned_table_is_a_clear_error() -> None:
    positions = Learned(4, 10)
    assert positions(torch.arange(10)[None]).shape == (1, 10, 4)
    with pytest.raises(
        ValueError, match="position 10 was asked for, but the learned table has positions 0 to 9; short"
    ):
        positions(torch.arange(11)[None])


def test_no_positions_add_nothing() -> None:
    assert torch.equal(Nowhere(3)(torch.tensor([[0, 5, 9]])), torch.zeros(1, 3, 3))


# Added or concatenated.


def embedded(combine: Combine, positions: nn.Module) -> tuple[Embedding, Tensor]:
    embedding = Embedding(7, 8, positions, combine=combine)
    return embedding, embedding(torch.tensor([[2, 2, 5]]), torch.arange(3)[None])[0]


def test_added_positions_stand_on_tokens_root_of_the_width_times_as_long() -> None:
    positions = Sinusoidal(8)
    embedding, x = embedded("add", positions)
    assert_close(x, embedding.table[[2, 2, 5]] * math.sqrt(8) + rows(positions, 3), atol=1e-14, rtol=0)


def test_concatenated_positions_stand_beside_the_tokens() -> None:
    positions = Sinusoidal(2)
    embedding, x = embedded("concatenate", positions)
    assert embedding.table.shape == (7, 6)
    assert_close(x[:, :6], embedding.table[[2, 2, 5]] * math.sqrt(6), atol=1e-14, rtol=0)
    assert torch.equal(x[:, 6:], rows(positions, 3))


def test_embeddings_start_with_a_variance_of_one_over_the_width() -> None:
    torch.manual_seed(0)
    # 160,000 draws: the standard error is 0.2 %.
    assert float(Embedding(2500, 64, Nowhere(64)).table.detach().std()) == pytest.approx(1 / 8, rel=0.01)
