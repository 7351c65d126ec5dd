"""Where a token stands, as a vector.

Sinusoidal (Vaswani 2017, section 3.5): with wavelengths from 2π to 10000·2π,

    PE(p, 2i) = sin(p / 10000^(2i/D))      PE(p, 2i+1) = cos(p / 10000^(2i/D))      i = 0 … D/2 − 1

Three layouts are in use. `interleaved` is the paper's formula. `concatenated` has all its sines first, then its
cosines. `tensor2tensor` is what the pictures of the lectures were drawn with: concatenated, and its frequencies
exp(−i · ln 10000 / (D/2 − 1)) reach 1/10000 exactly, so that it is no mere permutation of the paper's.
"""

import math
from typing import Literal, get_args

import torch
from torch import Tensor, nn

Layout = Literal["interleaved", "concatenated", "tensor2tensor"]
LONGEST_WAVE = 10_000.0


class Sinusoidal(nn.Module):
    """Sines and cosines of the position; nothing is learned, and no position is too far. `start` is the first one."""

    def __init__(self, width: int, layout: Layout = "interleaved", start: int = 0) -> None:
        super().__init__()
        if layout not in get_args(Layout):
            raise ValueError(f"there is no layout {layout!r} of positions; there are: {', '.join(get_args(Layout))}")
        if width % 2 or (layout == "tensor2tensor" and width < 4):
            raise ValueError(f"positions {width} wide cannot be {layout}: sines and cosines come in pairs")
        self.width = width
        self.layout = layout
        self.start = start

    def frequencies(self, device: torch.device | None = None) -> Tensor:
        """Return ω_i, in float64."""
        pairs = self.width // 2
        last = pairs - 1 if self.layout == "tensor2tensor" else pairs
        return torch.exp(torch.arange(pairs, dtype=torch.float64, device=device) * (-math.log(LONGEST_WAVE) / last))

    def forward(self, at_BT: Tensor) -> Tensor:
        # float32 would be off by a thousandth of a turn at position 10,000.
        angles_BTF = (at_BT + self.start).to(torch.float64)[..., None] * self.frequencies(at_BT.device)
        sines, cosines = angles_BTF.sin(), angles_BTF.cos()
        if self.layout == "interleaved":
            x_BTD = torch.stack([sines, cosines], dim=-1).flatten(-2)
        else:
            x_BTD = torch.cat([sines, cosines], dim=-1)
        return x_BTD.to(torch.get_default_dtype())


class Learned(nn.Module):
    """A vector for each of `longest` positions, learned; they start as N(0, 1/D). There is nothing beyond the table."""

    def __init__(self, width: int, longest: int) -> None:
        super().__init__()
        self.width = width
        self.table = nn.Parameter(torch.empty(longest, width))
        nn.init.normal_(self.table, std=width**-0.5)

    def forward(self, at_BT: Tensor) -> Tensor:
        longest = len(self.table)
        if at_BT.numel() and int(at_BT.max()) >= longest:
            raise ValueError(
                f"position {int(at_BT.max())} was asked for, but the learned table has positions 0 to {longest - 1}; "
                "shorten the text, or train with a longer table or sinusoidal positions"
            )
        return self.table[at_BT]


class Nowhere(nn.Module):
    """No positions: the model sees a set of tokens."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, at_BT: Tensor) -> Tensor:
        return torch.zeros(*at_BT.shape, self.width, device=at_BT.device)
