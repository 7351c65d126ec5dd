"""Faster forms of the explicit formula, and what they keep of the past.

A kernel says when it fits; it never runs while somebody looks, and tests hold it to the definition in `core`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from regard.attention.masks import Mask, causal, check, visible
from regard.attention.scores import ScaledDot

if TYPE_CHECKING:
    from regard.attention.core import KeyValues

# On a CPU the fused kernel is slower than the explicit form for tables smaller than this, in backward most of all.
WORTHWHILE_ON_CPU = 128 * 128


def find(
    q_BHTE: Tensor,
    kv: KeyValues,
    score: Callable[[Tensor, Tensor], Tensor],
    mask: Mask | Tensor | None,
    *,
    fused: bool,
    at_BT: Tensor | None,
) -> Callable[[], Tensor] | None:
    """Return a kernel that gives the same context faster, where one fits; `fused`: the other arrows are the usual."""
    targets, sources = q_BHTE.shape[-2], kv.k_BHSE.shape[-2]
    worthwhile = q_BHTE.device.type != "cpu" or targets * sources >= WORTHWHILE_ON_CPU
    if not (fused and type(score) is ScaledDot and worthwhile):
        return None
    return lambda: flash(q_BHTE, kv, mask, at_BT)


def flash(q_BHTE: Tensor, kv: KeyValues, mask: Mask | Tensor | None, at_BT: Tensor | None = None) -> Tensor:
    """Return the context of scaled dot-product attention by the fused kernel, which never stores the T×S table."""
    targets, sources = q_BHTE.shape[-2], kv.k_BHSE.shape[-2]
    if mask is causal and targets == sources and at_BT is None and kv.at_BS is None:
        return functional.scaled_dot_product_attention(q_BHTE, kv.k_BHSE, kv.v_BHSE, is_causal=True)
    seen = visible(mask, targets, sources, at_BT, kv.at_BS, q_BHTE.device)
    if seen is not None:
        check(seen, torch.Size([*q_BHTE.shape[:-1], sources]))
    context_BHTE = functional.scaled_dot_product_attention(q_BHTE, kv.k_BHSE, kv.v_BHSE, attn_mask=seen)
    if seen is None:
        return context_BHTE
    # What the fused kernel returns for a query with nothing to look at differs from device to device.
    return context_BHTE.masked_fill(~seen.any(-1, keepdim=True), 0.0)


class Buffer:
    """Room for keys and values, shared by the pasts that grew from one another; `written` places are taken."""

    def __init__(self, k_BHSE: Tensor, v_BHSE: Tensor, written: int) -> None:
        self.k_BHSE = k_BHSE
        self.v_BHSE = v_BHSE
        self.written = written

    def roomier(self, taken: int, needed: int) -> Buffer:
        """Return a copy with room for more."""
        return Buffer(roomy(self.k_BHSE, taken, needed), roomy(self.v_BHSE, taken, needed), taken)


@dataclass(frozen=True, eq=False)
class Past:
    """The keys and values of the first `length` places: a value to its users, though it writes into a shared buffer.

    Whoever goes on first from a past writes into the free room behind it; whoever goes on second from the same past
    finds the room taken and gets a copy. So going on twice from one past equals going on from two copies.
    """

    buffer: Buffer | None = None
    length: int = 0
    at_BS: Tensor | None = None

    def append(self, new: KeyValues) -> tuple[Past, KeyValues]:
        """Return the past with new places behind it, and all its keys and values."""
        added, length = new.k_BHSE.shape[-2], self.length + new.k_BHSE.shape[-2]
        assert self.buffer is None or (new.at_BS is None) == (self.at_BS is None), "positions are given always or never"
        at_BS = new.at_BS
        if self.at_BS is not None and new.at_BS is not None:
            at_BS = torch.cat([self.at_BS, new.at_BS], dim=1)
        buffer = self.buffer
        if buffer is None:
            # Training and prompts: nothing to copy, nothing to keep room for yet.
            buffer = Buffer(new.k_BHSE, new.v_BHSE, added)
        elif torch.is_grad_enabled():
            k, v = buffer.k_BHSE[..., : self.length, :], buffer.v_BHSE[..., : self.length, :]
            buffer = Buffer(torch.cat([k, new.k_BHSE], dim=-2), torch.cat([v, new.v_BHSE], dim=-2), length)
        else:
            taken = buffer.written != self.length or buffer.k_BHSE.shape[-2] < length
            # What inference mode has made cannot be written to outside of it.
            frozen = buffer.k_BHSE.is_inference() and not torch.is_inference_mode_enabled()
            if taken or frozen:
                buffer = buffer.roomier(self.length, length)
            buffer.k_BHSE[..., self.length : length, :] = new.k_BHSE
            buffer.v_BHSE[..., self.length : length, :] = new.v_BHSE
            buffer.written = length
        k_BHSE, v_BHSE = buffer.k_BHSE[..., :length, :], buffer.v_BHSE[..., :length, :]
        return Past(buffer, length, at_BS), new._replace(k_BHSE=k_BHSE, v_BHSE=v_BHSE, at_BS=at_BS)

    def select(self, rows: Tensor) -> Past:
        """Return the past of some rows; a row may be asked for more than once."""
        if self.buffer is None:
            return self
        taken = (x[..., : self.length, :] for x in (self.buffer.k_BHSE, self.buffer.v_BHSE))
        k_BHSE, v_BHSE = (roomy(x, self.length, self.length + 1, rows) for x in taken)
        at_BS = None if self.at_BS is None else self.at_BS[rows]
        return Past(Buffer(k_BHSE, v_BHSE, self.length), self.length, at_BS)


def roomy(x_BHSE: Tensor, taken: int, needed: int, rows: Tensor | None = None) -> Tensor:
    """Return a copy of the first `taken` places (of some rows) with room for the power of two beyond `needed`."""
    capacity = 1 << max(needed, 15).bit_length()
    batch = len(x_BHSE) if rows is None else len(rows)
    room_BHSE = x_BHSE.new_empty(batch, x_BHSE.shape[1], capacity, x_BHSE.shape[-1])
    old_BHSE = x_BHSE[..., :taken, :]
    if rows is None:
        room_BHSE[..., :taken, :] = old_BHSE
    else:
        room_BHSE[..., :taken, :] = old_BHSE[rows]
    return room_BHSE
