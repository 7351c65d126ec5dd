"""The Transformer of *Attention Is All You Need* (Vaswani 2017): encoder, decoder, and their sizes.

An encoder layer is self-attention, then a feed-forward network; a decoder layer has cross-attention to the top
encoder layer's output between them. Around each stands a residual connection with its norm: after the sum as in the
paper, or before the layer ("pre"), with one more norm on top of the stack.

A decoder is one forward for training, prompt and single step. Its state holds each sentence's memory, projected once
for every layer, beside the past of each hypothesis.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.attention import Attention, KeyValues, Learned, Lengths, Mask, Nowhere, Past, Sinusoidal, causal
from regard.attention import scores as scoring
from regard.layers import Activation, Combine, Embedding, FeedForward, Linear, Norm, Residual
from regard.layers import Positions as Placing
from regard.models.encoder_decoder import EncoderDecoder, Memory
from regard.state import State

Positions = Literal["interleaved", "concatenated", "tensor2tensor", "learned", "none"]


@dataclass(frozen=True)
class Sizes:
    """Everything that decides the shape of a Transformer."""

    vocabulary: int
    source_vocabulary: int | None = None
    """How many tokens the encoder knows where that is a vocabulary of its own; None: one vocabulary for both."""
    width: int = 512
    inner: int = 2048
    heads: int = 8
    encoder_layers: int = 6
    decoder_layers: int = 6
    dropout: float = 0.1
    norm: Norm = "post"
    activation: Activation = "relu"
    score: str = "scaled"
    positions: Positions = "interleaved"
    position_start: int = 0
    longest: int = 512
    """Positions in the table, where positions are learned."""
    combine: Combine = "add"
    tied: bool = True
    """One table for source, target and output (with vocabularies of their own: for target and output)."""

    def __post_init__(self) -> None:
        if self.tied and self.combine == "concatenate":
            raise ValueError(
                "concatenated positions leave the embeddings narrower than the output; use them with --no-tied"
            )


class EncoderLayer(nn.Module):
    """Self-attention, feed-forward."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.self = attention(sizes)
        self.feed_forward = FeedForward(sizes.width, sizes.inner, sizes.activation)
        self.around_self = Residual(sizes.width, sizes.dropout, sizes.norm)
        self.around_feed_forward = Residual(sizes.width, sizes.dropout, sizes.norm)

    def forward(self, x_BSD: Tensor, mask: Mask | None) -> Tensor:
        x_BSD = self.around_self(x_BSD, lambda x: self.self(x, self.self.keys_values(x), mask))
        return self.around_feed_forward(x_BSD, self.feed_forward)


class Encoder(nn.Module):
    """Tokens through a stack of encoder layers."""

    def __init__(self, embedding: Embedding, sizes: Sizes) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(EncoderLayer(sizes) for _ in range(sizes.encoder_layers))
        self.norm = top_norm(sizes)
        self.longest = places(sizes)

    def forward(self, tokens_BS: Tensor, lengths_B: Tensor | None = None) -> Memory:
        """Return the memory of some sources; `lengths_B` says how long each is, left out where nothing is padded."""
        x_BSD = self.embedding(tokens_BS, torch.arange(tokens_BS.shape[-1], device=tokens_BS.device)[None])
        for layer in self.layers:
            x_BSD = layer(x_BSD, padding(lengths_B))
        return Memory(self.norm(x_BSD), lengths_B)


class DecoderLayer(nn.Module):
    """Self-attention over what is written, cross-attention to what was read, feed-forward."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.self = attention(sizes)
        self.cross = attention(sizes)
        self.feed_forward = FeedForward(sizes.width, sizes.inner, sizes.activation)
        self.around_self = Residual(sizes.width, sizes.dropout, sizes.norm)
        self.around_cross = Residual(sizes.width, sizes.dropout, sizes.norm)
        self.around_feed_forward = Residual(sizes.width, sizes.dropout, sizes.norm)

    def forward(
        self, x_BTD: Tensor, past: Past, memory: KeyValues, mask: Mask | None, at_BT: Tensor | None
    ) -> tuple[Tensor, Past]:
        def itself(x_BTD: Tensor) -> Tensor:
            nonlocal past
            past, kv = past.append(self.self.keys_values(x_BTD, at_BT))
            return self.self(x_BTD, kv, causal, at_BT)

        x_BTD = self.around_self(x_BTD, itself)
        x_BTD = self.around_cross(x_BTD, lambda x: self.cross(x, memory, mask))
        return self.around_feed_forward(x_BTD, self.feed_forward), past


class Written(NamedTuple):
    """What a decoder carries of its hypotheses: how many tokens, and their keys and values in every layer."""

    length: int
    layers: tuple[Past, ...]


class Read(NamedTuple):
    """What a decoder carries of its sentences: keys and values for every layer, and which places are there."""

    layers: tuple[KeyValues, ...]
    lengths_B: Tensor | None


class Decoder(nn.Module):
    """Tokens through a stack of decoder layers, to logits."""

    layers: Any  # a ModuleList of DecoderLayer, which does not say so

    def __init__(self, embedding: Embedding, sizes: Sizes) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(DecoderLayer(sizes) for _ in range(sizes.decoder_layers))
        self.norm = top_norm(sizes)
        self.longest = places(sizes)
        self.output = None if sizes.tied else Linear(sizes.width, sizes.vocabulary, bias=False)

    def start(self, memory: Memory) -> State:
        """Return the state before the first token: the memory projected for every layer, and nothing written."""
        layers = tuple(layer.cross.keys_values(memory.x_BSD) for layer in self.layers)
        return State(Read(layers, memory.lengths_B), Written(0, tuple(Past() for _ in self.layers)))

    def forward(self, tokens_BT: Tensor, state: State, at_BT: Tensor | None = None) -> tuple[Tensor, State]:
        """Return logits_BTV for what follows each token, and the state behind them.

        `at_BT` says where the tokens stand; left out, they follow on what is written.
        """
        read, written = state
        length = written.length + tokens_BT.shape[-1]
        place_BT = torch.arange(written.length, length, device=tokens_BT.device)[None] if at_BT is None else at_BT
        x_BTD = self.embedding(tokens_BT, place_BT)
        mask, pasts = padding(read.lengths_B), []
        for layer, past, memory in zip(self.layers, written.layers, read.layers, strict=True):
            x_BTD, past = layer(x_BTD, past, memory, mask, at_BT)
            pasts.append(past)
        x_BTD = self.norm(x_BTD)
        logits_BTV = functional.linear(x_BTD, self.embedding.table) if self.output is None else self.output(x_BTD)
        return logits_BTV, State(read, Written(length, tuple(pasts)))


def padding(lengths_B: Tensor | None) -> Mask | None:
    """Return the mask of sources of some lengths."""
    return None if lengths_B is None else Lengths(lengths_B)


def places(sizes: Sizes) -> int | None:
    """Return how many tokens have a place; None: there is no end to them."""
    return sizes.longest if sizes.positions == "learned" else None


def attention(sizes: Sizes) -> Attention:
    return Attention(sizes.heads, sizes.width, score=scoring.find(sizes.score))


def top_norm(sizes: Sizes) -> nn.Module:
    """Return what normalises the top of a stack: in pre-norm nothing else has."""
    return nn.LayerNorm(sizes.width) if sizes.norm == "pre" else nn.Identity()


def embedding(vocabulary: int, sizes: Sizes) -> Embedding:
    width = sizes.width if sizes.combine == "add" else sizes.width // 2
    positions: Placing
    if sizes.positions == "learned":
        positions = Learned(width, sizes.longest)
    elif sizes.positions == "none":
        positions = Nowhere(width)
    else:
        positions = Sinusoidal(width, sizes.positions, sizes.position_start)
    return Embedding(vocabulary, sizes.width, positions, dropout=sizes.dropout, combine=sizes.combine)


def transformer(sizes: Sizes) -> EncoderDecoder:
    """Return an encoder–decoder Transformer; tied, one table serves as source and target embedding and as output."""
    target = embedding(sizes.vocabulary, sizes)
    source = embedding(sizes.source_vocabulary or sizes.vocabulary, sizes)
    if sizes.tied and sizes.source_vocabulary is None:
        source.table = target.table
    return EncoderDecoder(Encoder(source, sizes), Decoder(target, sizes))
