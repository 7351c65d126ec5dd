"""Who may look at whom.

A mask is a boolean tensor that broadcasts to B H T S (True means *may look*), or a description that knows its dense
form. Descriptions combine with `&`. The dense form is the definition; a kernel may read the description instead.

Where queries and keys stand are values (`at_BT`, `at_BS`). Left out, keys stand at 0, 1, 2, … and the queries are the
newest T of them.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


class Mask:
    """A description of who may look at whom."""

    def dense(self, at_BT: Tensor, at_BS: Tensor) -> Tensor:
        """Return the boolean table, broadcasting to B H T S, of queries at `at_BT` over keys at `at_BS`."""
        raise NotImplementedError

    def hides(self, targets: int, sources: int, given: bool) -> bool:
        """Return False where it is plain without looking that nothing is hidden; `given` says positions were given."""
        return True

    def __and__(self, other: "Mask | Tensor") -> "Mask":
        return Both(self, other if isinstance(other, Mask) else Table(other))

    __rand__ = __and__


@dataclass(frozen=True, eq=False)
class Both(Mask):
    """What two masks both allow."""

    one: Mask
    other: Mask

    def dense(self, at_BT: Tensor, at_BS: Tensor) -> Tensor:
        return self.one.dense(at_BT, at_BS) & self.other.dense(at_BT, at_BS)

    def hides(self, targets: int, sources: int, given: bool) -> bool:
        return self.one.hides(targets, sources, given) or self.other.hides(targets, sources, given)


@dataclass(frozen=True, eq=False)
class Table(Mask):
    """A boolean tensor, as a description."""

    allowed: Tensor

    def dense(self, at_BT: Tensor, at_BS: Tensor) -> Tensor:
        return self.allowed


@dataclass(frozen=True)
class Causal(Mask):
    """Nobody sees what stands after it."""

    def dense(self, at_BT: Tensor, at_BS: Tensor) -> Tensor:
        return (at_BS[..., None, :] <= at_BT[..., :, None])[:, None]

    def hides(self, targets: int, sources: int, given: bool) -> bool:
        return given or targets > 1  # one query, the newest, sees all there is


causal = Causal()


@dataclass(frozen=True, eq=False)
class Lengths(Mask):
    """The first `lengths_B` keys of each sentence are there; what follows is padding."""

    lengths_B: Tensor

    def dense(self, at_BT: Tensor, at_BS: Tensor) -> Tensor:
        place_S = torch.arange(at_BS.shape[-1], device=self.lengths_B.device)
        return (place_S < self.lengths_B[:, None])[:, None, None, :]


@dataclass(frozen=True)
class Window(Mask):
    """Nobody sees farther than `reach` places to either side."""

    reach: int

    def dense(self, at_BT: Tensor, at_BS: Tensor) -> Tensor:
        return ((at_BS[..., None, :] - at_BT[..., :, None]).abs() <= self.reach)[:, None]


@dataclass(frozen=True, eq=False)
class Segments(Mask):
    """Queries see keys of their own segment: several texts in one row stay strangers."""

    of_BT: Tensor
    of_BS: Tensor

    def dense(self, at_BT: Tensor, at_BS: Tensor) -> Tensor:
        return (self.of_BS[:, None, :] == self.of_BT[:, :, None])[:, None]


def visible(
    mask: Mask | Tensor | None,
    targets: int,
    sources: int,
    at_BT: Tensor | None,
    at_BS: Tensor | None,
    device: torch.device,
) -> Tensor | None:
    """Return the dense form of a mask, or None where everything may be seen."""
    if not isinstance(mask, Mask):
        return mask
    if not mask.hides(targets, sources, at_BT is not None or at_BS is not None):
        return None
    if at_BS is None:
        at_BS = torch.arange(sources, device=device)[None]
    if at_BT is None:
        at_BT = at_BS[:, sources - targets :]
    return mask.dense(at_BT, at_BS)


def check(mask: Tensor, shape: torch.Size) -> None:
    """Refuse a mask that does not say, for every query and key, whether it may look."""
    hint = ""
    if mask.dim() == 2 and mask.shape == (shape[0], shape[-1]):
        hint = "; for source padding write mask[:, None, None, :]"
        if mask.shape[0] == shape[-2]:  # as many sentences as queries: either might be meant
            hint += ", for a table of queries and keys mask[None, None]"
    if mask.dtype != torch.bool:
        raise ValueError(f"mask has type {mask.dtype} but must be boolean (True means: may look)")
    try:
        fits = torch.broadcast_shapes(mask.shape, shape) == shape and not hint
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(
            f"mask has shape {tuple(mask.shape)} but must broadcast to batch×heads×targets×sources = "
            f"{tuple(shape)}{hint}"
        )
