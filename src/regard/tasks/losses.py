"""Label-smoothed cross-entropy (Szegedy 2016), with its gradient, in one pass over the logits.

    loss = −(1 − ε) · log p(y) − ε/V · Σ_v log p(v)        gradient = p − (1 − ε) · onehot(y) − ε/V

The rows are taken a few at a time, so that they are still in the processor's cache when they are read again.
"""

from typing import Any

import torch
from torch import Tensor

ROWS_AT_ONCE = {"cpu": 64}
EVERY_ROW = 1 << 14


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits_NV: Tensor, labels_N: Tensor, counted_N: Tensor, smoothing: float) -> Tensor:
        gradient_NV = torch.empty_like(logits_NV) if ctx.needs_input_grad[0] else None
        spread = smoothing / logits_NV.shape[-1]
        sums = torch.zeros(2, dtype=torch.float32, device=logits_NV.device)
        at_once = ROWS_AT_ONCE.get(logits_NV.device.type, EVERY_ROW)
        for start in range(0, len(labels_N), at_once):
            rows = slice(start, start + at_once)
            x_NV, labels_N1, counted_N1 = logits_NV[rows].float(), labels_N[rows, None], counted_N[rows, None]
            total_N1 = x_NV.logsumexp(-1, keepdim=True)
            nll_N1 = (total_N1 - x_NV.gather(-1, labels_N1)) * counted_N1
            sums[1] += nll_N1.sum()
            if smoothing:
                mean_N1 = (total_N1 - x_NV.mean(-1, keepdim=True)) * counted_N1
                sums[0] += (1 - smoothing) * nll_N1.sum() + smoothing * mean_N1.sum()
            if gradient_NV is not None:
                p_NV = (x_NV - total_N1).exp_().sub_(spread)
                p_NV.scatter_add_(-1, labels_N1, p_NV.new_full((1, 1), smoothing - 1).expand_as(labels_N1))
                gradient_NV[rows] = p_NV.mul_(counted_N1)
        if not smoothing:
            sums[0] = sums[1]
        ctx.gradient_NV = gradient_NV
        return sums

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None, None, None]:
        # The gradient is scaled where it lies, so there is one backward pass.
        gradient_NV, ctx.gradient_NV = ctx.gradient_NV, None
        if gradient_NV is None:
            raise RuntimeError("this loss went backward before; compute it again for a second backward pass")
        return gradient_NV.mul_(upstream[0][0]), None, None, None


def cross_entropy(logits_BTV: Tensor, labels_BT: Tensor, counted_BT: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Return two sums over the places that count: the smoothed loss, and −log p of the labels (without gradient)."""
    sums = _CrossEntropy.apply(logits_BTV.flatten(0, 1), labels_BT.flatten(), counted_BT.flatten(), smoothing)
    return sums[0], sums[1].detach()
