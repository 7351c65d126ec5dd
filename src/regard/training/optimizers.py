"""What moves the parameters."""

import torch
from torch import nn

from regard.training.plan import Plan

BETAS = (0.9, 0.98)
EPSILON = 1e-9


def optimizer(model: nn.Module, plan: Plan) -> torch.optim.Optimizer:
    """Return Adam with the paper's constants (β 0.9 and 0.98, ε 1e-9), or AdamW, which lets matrices decay."""
    parameters = list(model.parameters())
    if plan.optimizer == "adam":
        return torch.optim.Adam(parameters, betas=BETAS, eps=EPSILON, fused=True)
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": plan.decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, betas=BETAS, eps=EPSILON, fused=True)


class Twin:
    """What computes the loss: the model itself, or in bfloat16 a rounded copy of it.

    The parameters that the optimizer moves stay float32 either way. A copy whose every operation runs in bfloat16 is
    faster than casting around each of them, and what small updates would lose to rounding is kept.
    """

    def __init__(self, model: nn.Module, copy: nn.Module | None) -> None:
        self.model = model
        self.computes = model if copy is None else copy.to(torch.bfloat16)
        self.pairs = [] if copy is None else list(zip(model.parameters(), self.computes.parameters(), strict=True))

    def clear(self) -> None:
        """Forget the gradients of the last step, and take over the parameters."""
        self.model.zero_grad(set_to_none=True)
        with torch.no_grad():
            for parameter, rounded in self.pairs:
                rounded.copy_(parameter)
                rounded.grad = None

    def gradients(self) -> None:
        """Add the gradients to those of the parameters that the optimizer moves, in float32."""
        for parameter, rounded in self.pairs:
            if rounded.grad is not None:
                found = rounded.grad.float()
                parameter.grad = found if parameter.grad is None else parameter.grad.add_(found)
                rounded.grad = None
