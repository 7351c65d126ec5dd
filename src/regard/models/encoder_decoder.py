"""A reader and a writer: an encoder makes a memory of the source, a decoder writes the target from it."""

from typing import NamedTuple, Protocol

from torch import Tensor, nn

from regard.state import State


class Memory(NamedTuple):
    """What an encoder hands to a decoder: a vector for every place of the source, and how many of them are there."""

    x_BSD: Tensor
    lengths_B: Tensor | None = None


class Encoder(Protocol):
    longest: int | None
    """The most tokens that have a place; None: there is no end to them."""

    def __call__(self, tokens_BS: Tensor, lengths_B: Tensor | None = None) -> Memory:
        """Read the sources; `lengths_B` says how long each is, left out where nothing is padded."""


class Decoder(Protocol):
    longest: int | None

    def start(self, memory: Memory) -> State:
        """Return the state before the first token."""

    def __call__(self, tokens_BT: Tensor, state: State) -> tuple[Tensor, State]:
        """Return logits_BTV for what follows each token, and the state behind them."""


class EncoderDecoder(nn.Module):
    """The composition: source and target through once, as in training."""

    def __init__(self, encoder: Encoder, decoder: Decoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, source_BS: Tensor, lengths_B: Tensor | None, target_BT: Tensor) -> Tensor:
        """Return logits_BTV: at each place what follows the target so far (teacher forcing)."""
        state = self.decoder.start(self.encoder(source_BS, lengths_B))
        logits_BTV: Tensor = self.decoder(target_BT, state)[0]
        return logits_BTV
