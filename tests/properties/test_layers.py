"""Dropout drops a share and keeps the mean; what stands between the attentions sees one vector at a time."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from regard.layers import ACTIVATIONS, Activation, Dropout, FeedForward, Linear, Norm, Residual
from tests.small import noise, randomised

DRAWS = 800_000
every_share = pytest.mark.parametrize("share", [0.05, 0.1, 0.3, 0.5, 0.9])


def dropped(share: float, seed: int = 0, shape: tuple[int, ...] = (DRAWS,)) -> Tensor:
    """Return where a layer that is training drops."""
    torch.manual_seed(seed)
    return Dropout(share)(torch.ones(shape)) == 0


@every_share
def test_the_share_that_is_dropped_is_the_one_asked_for(share: float) -> None:
    steps = round(share * 256)
    assert abs(steps / 256 - share) <= 1 / 512
    # Four standard errors of 800,000 draws: less than 0.23 %.
    error = 4 * math.sqrt(share * (1 - share) / DRAWS)
    gone = dropped(share)
    assert float(gone.float().mean()) == pytest.approx(steps / 256, abs=error)
    # One draw decides for eight neighbours: each has the same share, and neighbours are strangers.
    eighths = gone.view(-1, 8).float()
    assert_close(eighths.mean(0), torch.full((8,), steps / 256), atol=error * math.sqrt(8), rtol=0)
    together = (eighths.T @ eighths / len(eighths)).fill_diagonal_((steps / 256) ** 2)
    assert_close(together, torch.full((8, 8), (steps / 256) ** 2), atol=error * math.sqrt(8), rtol=0)


@every_share
def test_dropout_keeps_the_mean(share: float) -> None:
    torch.manual_seed(0)
    kept = Dropout(share)(torch.ones(DRAWS))
    # What is left is as much larger as there is less of it; the mean is one, to four standard errors.
    assert kept.unique().tolist() == pytest.approx([0, 256 / (256 - round(share * 256))], rel=1e-6)
    assert float(kept.mean()) == pytest.approx(1, abs=4 * math.sqrt(share / (1 - share) / DRAWS))


@every_share
def test_outside_of_training_nothing_is_dropped(share: float) -> None:
    x = noise(5, 7)
    assert Dropout(share).eval()(x) is x


def test_a_share_of_zero_drops_nothing() -> None:
    x = noise(5, 7)
    assert Dropout(0.0)(x) is x


def test_the_same_seed_drops_the_same_and_another_seed_something_else() -> None:
    assert torch.equal(dropped(0.5, seed=3), dropped(0.5, seed=3))
    assert not torch.equal(dropped(0.5, seed=3), dropped(0.5, seed=4))
    # Two layers, or two steps, of one run differ.
    layer, x = Dropout(0.5), torch.ones(64)
    assert not torch.equal(layer(x), layer(x))


def test_what_is_dropped_has_no_gradient_and_what_is_kept_has_more() -> None:
    x = noise(1000).requires_grad_()
    y = Dropout(0.25)(x)
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, torch.where(y == 0, 0, 4 / 3))


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 5), (7, 9, 11)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_any_shape_and_type_comes_back_as_it_was(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = torch.ones(shape, dtype=dtype)
    y = Dropout(0.5)(x)
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    assert set(y.flatten().tolist()) <= {0.0, 2.0}


def test_a_transposed_input_is_dropped_as_any_other() -> None:
    x = noise(40, 30).T
    y = Dropout(0.5)(x)
    assert torch.equal(y[y != 0], 2 * x[y != 0])
    assert 0.4 < float((y == 0).float().mean()) < 0.6


@pytest.mark.parametrize("share", [-0.1, 1.0, math.nan])
def test_an_impossible_share_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="cannot be dropped; it must be at least 0 and less than 1"):
        Dropout(share)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_feed_forward_sees_one_vector_at_a_time(activation: Activation) -> None:
    layer, x = randomised(FeedForward(4, 6, activation).double()), noise(2, 5, 4).double()
    # Products of one row or of ten may be summed in another order: float64 rounding.
    alone = torch.stack([layer(row) for row in x.flatten(0, 1)]).view_as(x)
    assert_close(alone, layer(x), atol=1e-14, rtol=0)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_residual_is_a_sum_with_its_norm(norm: Norm) -> None:
    residual, x, layer = randomised(Residual(4, 0.0, norm)), noise(2, 5, 4), nn.Tanh()
    expected = x + layer(residual.norm(x)) if norm == "pre" else residual.norm(x + layer(x))
    assert torch.equal(residual(x, layer), expected)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_what_a_residual_drops_is_the_result_of_its_layer(norm: Norm) -> None:
    residual, x = randomised(Residual(4, 0.5, norm)), noise(2, 5, 4)
    torch.manual_seed(5)
    found = residual(x, torch.tanh)
    torch.manual_seed(5)
    result = residual.dropout(torch.tanh(residual.norm(x) if norm == "pre" else x))
    assert 0 < int((result == 0).sum()) < x.numel()
    assert torch.equal(found, x + result if norm == "pre" else residual.norm(x + result))


def test_matrices_start_xavier_uniform_and_biases_at_zero() -> None:
    torch.manual_seed(0)
    linear = Linear(300, 100)
    bound = math.sqrt(6 / (300 + 100))
    assert float(linear.weight.detach().abs().max()) <= bound
    # A uniform number's spread is its bound over √3: 30,000 draws, 1 %.
    assert float(linear.weight.detach().std()) == pytest.approx(bound / math.sqrt(3), rel=0.01)
    assert not linear.bias.any()
