"""Attention with heads: project, attend in every head at once, concatenate, project back (Vaswani 2017, section 3.2.2).

    MultiHead(x, memory) = Concat(head_1 … head_H) W^O,    head_h = attend(x W^Q_h, memory W^K_h, memory W^V_h)

Self-attention, cross-attention and an RNN's attention differ only in who asks whom.
"""

from torch import Tensor, nn

from regard.attention.core import KeyValues, Normalize, attend, softmax
from regard.attention.masks import Mask
from regard.attention.scores import ScaledDot, Score


class Attention(nn.Module):
    """Heads over any score. The projections start as Xavier-uniform matrices with zero biases."""

    def __init__(
        self,
        heads: int,
        width: int,
        *,
        memory_width: int | None = None,
        score: type[Score] = ScaledDot,
        normalize: Normalize = softmax,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} cannot be shared out among {heads} heads; choose a multiple of {heads}")
        memory_width = width if memory_width is None else memory_width
        self.heads = heads
        self.query = nn.Linear(width, width, bias=bias)
        self.key = nn.Linear(memory_width, width, bias=bias)
        self.value = nn.Linear(memory_width, width, bias=bias)
        self.output = nn.Linear(width, width, bias=bias)
        self.score = score(heads, width // heads, width // heads)
        self.normalize = normalize
        for linear in (self.query, self.key, self.value, self.output):
            nn.init.xavier_uniform_(linear.weight)
            if bias:
                nn.init.zeros_(linear.bias)

    def split(self, x_BTD: Tensor) -> Tensor:
        """Return what each head gets of the width: B H T E."""
        return x_BTD.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def keys_values(self, memory_BSD: Tensor, at_BS: Tensor | None = None) -> KeyValues:
        """Return a memory projected for all heads: once, however often it is asked."""
        k_BHSE = self.score.keys(self.split(self.key(memory_BSD)))
        return KeyValues(k_BHSE, self.split(self.value(memory_BSD)), at_BS)

    def forward(
        self, x_BTD: Tensor, kv: KeyValues, mask: Mask | Tensor | None = None, at_BT: Tensor | None = None
    ) -> Tensor:
        """Return what each query of `x` finds in a projected memory."""
        # The hypotheses of one sentence ask one memory: to it they are just more queries.
        asked_NTD = x_BTD.reshape(kv.k_BHSE.shape[0], -1, x_BTD.shape[-1])
        q_BHTE = self.split(self.query(asked_NTD))
        context_BHTE = attend(q_BHTE, kv, score=self.score, mask=mask, normalize=self.normalize, at_BT=at_BT)
        return self.output(context_BHTE.transpose(1, 2).flatten(-2)).view_as(x_BTD)
