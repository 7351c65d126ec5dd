"""Cross-entropy in one pass over the logits equals PyTorch's, value and gradient, over the places that count."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional
from torch.testing import assert_close

from regard.tasks.losses import cross_entropy
from tests.small import noise


def drawn(B: int, T: int, V: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return logits, labels and which places count."""
    chance = torch.Generator().manual_seed(seed)
    logits_BTV = 3 * torch.randn(B, T, V, generator=chance)
    labels_BT = torch.randint(0, V, (B, T), generator=chance)
    return logits_BTV, labels_BT, torch.rand(B, T, generator=chance) < 0.7


def expected(logits_BTV: Tensor, labels_BT: Tensor, counted_BT: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Return loss and gradient by PyTorch, in float64."""
    x_BTV = logits_BTV.detach().double().requires_grad_()
    labels_N = labels_BT.masked_fill(~counted_BT, -100).flatten()
    loss = functional.cross_entropy(x_BTV.flatten(0, 1), labels_N, reduction="sum", label_smoothing=smoothing)
    loss.backward()
    assert x_BTV.grad is not None
    return loss.detach(), x_BTV.grad


# The rows are taken 64 at a time: around that number most of all.
@given(
    st.integers(1, 4),
    st.sampled_from([1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 130]),
    st.integers(1, 40),
    st.sampled_from([0.0, 0.1, 0.5, 0.99]),
    st.integers(0, 2**20),
)
def test_it_equals_pytorchs_value_and_gradient(B: int, T: int, V: int, smoothing: float, seed: int) -> None:
    logits_BTV, labels_BT, counted_BT = drawn(B, T, V, seed)
    logits_BTV.requires_grad_()
    loss, nll = cross_entropy(logits_BTV, labels_BT, counted_BT, smoothing)
    loss.backward()
    right, gradient_BTV = expected(logits_BTV, labels_BT, counted_BT, smoothing)
    # Float32: a sum of hundreds of numbers of about three, relative to it; each entry of the gradient is below one.
    assert_close(loss.detach().double(), right, atol=1e-5, rtol=1e-5)
    assert_close(nll.double(), expected(logits_BTV, labels_BT, counted_BT, 0.0)[0], atol=1e-5, rtol=1e-5)
    assert logits_BTV.grad is not None
    assert_close(logits_BTV.grad.double(), gradient_BTV, atol=1e-5, rtol=0)


def test_bfloat16_logits_are_summed_in_float32() -> None:
    logits_BTV, labels_BT, counted_BT = drawn(4, 50, 300, 0)
    logits_BTV = logits_BTV.bfloat16().requires_grad_()
    loss, _ = cross_entropy(logits_BTV, labels_BT, counted_BT, 0.1)
    loss.backward()
    # The same rounded logits in float64: the value is as good as in float32.
    right, gradient_BTV = expected(logits_BTV, labels_BT, counted_BT, 0.1)
    assert_close(loss.detach().double(), right, atol=0, rtol=1e-5)
    # The gradient is rounded once, to the eight bits of bfloat16: by at most 1/256 of the entry.
    assert logits_BTV.grad is not None
    assert logits_BTV.grad.dtype is torch.bfloat16
    assert_close(logits_BTV.grad.double(), gradient_BTV, atol=1e-6, rtol=1 / 256)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_places_that_do_not_count_have_no_loss_and_no_gradient(smoothing: float) -> None:
    logits_BTV, labels_BT, counted_BT = drawn(3, 40, 11, 1)
    logits_BTV.requires_grad_()
    loss, nll = cross_entropy(logits_BTV, labels_BT, counted_BT, smoothing)
    loss.backward()
    assert logits_BTV.grad is not None
    assert not logits_BTV.grad[~counted_BT].any()
    assert bool((logits_BTV.grad[counted_BT] != 0).any(-1).all())
    # Whatever stands there.
    other_BTV = torch.where(counted_BT[..., None], logits_BTV, 100 * noise(3, 40, 11))
    other_BT = torch.where(counted_BT, labels_BT, 0)
    again, others = cross_entropy(other_BTV, other_BT, counted_BT, smoothing)
    assert (again.item(), others.item()) == (loss.item(), nll.item())


def test_where_nothing_counts_the_loss_is_zero() -> None:
    logits_BTV, labels_BT, _ = drawn(2, 3, 5, 0)
    logits_BTV.requires_grad_()
    loss, nll = cross_entropy(logits_BTV, labels_BT, torch.zeros(2, 3, dtype=torch.bool), 0.1)
    loss.backward()
    assert (loss.item(), nll.item()) == (0, 0)
    assert logits_BTV.grad is not None
    assert not logits_BTV.grad.any()


def test_a_uniform_guess_costs_the_logarithm_of_the_vocabulary() -> None:
    loss, nll = cross_entropy(torch.zeros(1, 4, 10), torch.tensor([[1, 2, 3, 9]]), torch.ones(1, 4).bool(), 0.1)
    assert loss.item() == pytest.approx(4 * math.log(10), rel=1e-6)
    assert nll.item() == pytest.approx(4 * math.log(10), rel=1e-6)


def test_without_smoothing_the_loss_is_the_negative_log_probability() -> None:
    loss, nll = cross_entropy(*drawn(3, 40, 11, 2), 0.0)
    assert loss.item() == nll.item()


def test_the_negative_log_probability_has_no_gradient() -> None:
    logits_BTV, labels_BT, counted_BT = drawn(2, 3, 5, 0)
    _, nll = cross_entropy(logits_BTV.requires_grad_(), labels_BT, counted_BT, 0.1)
    assert not nll.requires_grad


def test_extreme_logits_stay_finite() -> None:
    logits_BTV = torch.tensor([[[1e4, -1e4, 0.0], [-1e4, 1e4, 1e4]]], requires_grad=True)
    loss, _ = cross_entropy(logits_BTV, torch.tensor([[1, 0]]), torch.ones(1, 2).bool(), 0.1)
    loss.backward()
    assert math.isfinite(loss.item())
    assert logits_BTV.grad is not None
    assert bool(logits_BTV.grad.isfinite().all())


def test_the_gradient_is_as_large_as_what_comes_down_to_it() -> None:
    logits_BTV, labels_BT, counted_BT = drawn(2, 70, 5, 0)
    gradients = []
    for factor in (1.0, 1 / 128):  # exact in float32
        x_BTV = logits_BTV.clone().requires_grad_()
        (cross_entropy(x_BTV, labels_BT, counted_BT, 0.1)[0] * factor).backward()
        assert x_BTV.grad is not None
        gradients.append(x_BTV.grad)
    assert torch.equal(gradients[0] / 128, gradients[1])


def test_a_second_backward_pass_is_refused_rather_than_wrong() -> None:
    logits_BTV, labels_BT, counted_BT = drawn(2, 3, 5, 0)
    loss, _ = cross_entropy(logits_BTV.requires_grad_(), labels_BT, counted_BT, 0.1)
    (loss / 2).backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="this loss went backward before"):
        (loss / 2).backward()


def test_no_gradient_is_computed_where_none_is_wanted() -> None:
    logits_BTV, labels_BT, counted_BT = drawn(2, 70, 5, 0)
    wanted, _ = cross_entropy(logits_BTV.clone().requires_grad_(), labels_BT, counted_BT, 0.1)
    with torch.inference_mode():
        loss, _ = cross_entropy(logits_BTV, labels_BT, counted_BT, 0.1)
    assert loss.item() == wanted.item()
