"""What stands between the attentions: tokens as vectors, feed-forward, residual and norm.

How parameters start: embeddings N(0, 1/D), every matrix Xavier-uniform, biases zero, norms one and zero.
"""

import math
from collections.abc import Callable
from typing import Literal, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

Activation = Literal["relu", "gelu"]
Norm = Literal["post", "pre"]
Combine = Literal["add", "concatenate"]
ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {"relu": functional.relu, "gelu": functional.gelu}


class Linear(nn.Linear):
    """A Xavier-uniform matrix and a zero bias."""

    def reset_parameters(self) -> None:
        nn.init.xavier_uniform_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)


class Dropout(nn.Module):
    """Set a share of the numbers to zero while training, and make up for it with the others (Srivastava 2014).

    On a CPU the usual way draws one number after another, a fifth of a training step. There one draw decides for eight
    numbers, a byte each, so the share is a multiple of 1/256.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        if not 0 <= share < 1:
            raise ValueError(f"a share of {share} cannot be dropped; it must be at least 0 and less than 1")
        self.share = share

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.share == 0:
            return x
        if x.device.type != "cpu":
            return functional.dropout(x, self.share)
        steps = min(max(round(self.share * 256), 1), 255)
        draws = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        bytes_ = draws.view(torch.uint8)[: x.numel()].view(x.shape)
        # A comparison written as numbers, and a product: filling by a boolean mask takes five times as long here.
        kept = torch.ge(bytes_, steps, out=torch.empty_like(x, requires_grad=False)).mul_(256 / (256 - steps))
        return x * kept


class FeedForward(nn.Module):
    """W₂ · activation(W₁ x): the same two layers at every position (Vaswani 2017, section 3.3)."""

    def __init__(self, width: int, inner: int, activation: Activation = "relu") -> None:
        super().__init__()
        self.inner = Linear(width, inner)
        self.outer = Linear(inner, width)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x_BTD: Tensor) -> Tensor:
        return self.outer(self.activation(self.inner(x_BTD)))


class Residual(nn.Module):
    """x + f(x) with a norm: after the sum as in the paper ("post"), or before f ("pre"). Dropout is on f's result."""

    def __init__(self, width: int, dropout: float = 0.0, norm: Norm = "post") -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.dropout = Dropout(dropout)
        self.first = norm == "pre"

    def forward(self, x_BTD: Tensor, layer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.first:
            return x_BTD + self.dropout(layer(self.norm(x_BTD)))
        return self.norm(x_BTD + self.dropout(layer(x_BTD)))


class Positions(Protocol):
    """A map from places to vectors `width` wide."""

    width: int

    def __call__(self, at_BT: Tensor) -> Tensor: ...


class Embedding(nn.Module):
    """Tokens as vectors, √D times as long as they are kept, and where they stand: added, or written beside.

    `positions` maps places to vectors; its width is the token's where they are added, and the rest of `width` where
    they are concatenated.
    """

    def __init__(
        self, vocabulary: int, width: int, positions: Positions, *, dropout: float = 0.0, combine: Combine = "add"
    ) -> None:
        super().__init__()
        token_width = width if combine == "add" else width - positions.width
        self.table = nn.Parameter(torch.empty(vocabulary, token_width))
        nn.init.normal_(self.table, std=token_width**-0.5)
        self.positions = positions
        self.dropout = Dropout(dropout)
        self.combine = combine

    def forward(self, tokens_BT: Tensor, at_BT: Tensor) -> Tensor:
        x_BTD = functional.embedding(tokens_BT, self.table) * math.sqrt(self.table.shape[-1])
        positions_BTD = self.positions(at_BT).to(x_BTD.dtype)
        if self.combine == "add":
            return self.dropout(x_BTD + positions_BTD)
        return self.dropout(torch.cat([x_BTD, positions_BTD.expand(*x_BTD.shape[:-1], -1)], dim=-1))
