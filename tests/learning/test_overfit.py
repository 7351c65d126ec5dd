"""A small Transformer learns one batch by heart: every order of four digits, written backwards."""

import math
from itertools import permutations
from typing import Any

import pytest
import torch
from torch import nn

from regard.attention import Score
from regard.data.vocabulary import END, PAD, START
from regard.decoding import beam, greedy
from regard.decoding.contract import Limits
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.transformer import Sizes, transformer
from regard.tasks.losses import cross_entropy

SOURCES = torch.tensor(list(permutations((4, 5, 6, 7))))
LABELS = torch.cat([SOURCES.flip(1), torch.full((len(SOURCES), 1), END)], dim=1)
FED = torch.cat([torch.full((len(SOURCES), 1), START), SOURCES.flip(1)], dim=1)


def learned(steps: int, **sizes: Any) -> tuple[EncoderDecoder, float]:
    """Return a model after some steps of Adam, and its loss: nats for each sequence."""
    torch.manual_seed(1)
    usual = {"width": 32, "inner": 64, "heads": 2, "encoder_layers": 1, "decoder_layers": 1, "dropout": 0.0}
    model = transformer(Sizes(8, **{**usual, **sizes}))
    adam = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98))
    for step in range(steps):
        adam.param_groups[0]["lr"] = 5e-3 * min(1, (step + 1) / 20, 2 * (1 - step / steps))
        loss = total(model) / len(SOURCES)
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
    model.eval()
    with torch.inference_mode():
        return model, float(total(model)) / len(SOURCES)


def total(model: EncoderDecoder) -> torch.Tensor:
    return cross_entropy(model(SOURCES, None, FED), LABELS, torch.ones_like(LABELS).bool(), 0.0)[0]


@pytest.mark.parametrize(
    "sizes",
    [
        *({"score": name} for name in Score.named),
        {"norm": "pre", "activation": "gelu"},
        {"positions": "learned", "longest": 8},
        {"positions": "tensor2tensor", "combine": "concatenate", "tied": False},
    ],
    ids=str,
)
def test_one_batch_is_learned_by_heart_and_written_by_every_search(sizes: dict[str, Any]) -> None:
    model, loss = learned(300, **sizes)
    assert loss < 0.05
    limits, begin = Limits([7] * len(SOURCES), END, (PAD, START)), torch.full((len(SOURCES),), START)
    for search in (greedy.search, beam.search):
        with torch.inference_mode():
            found = search(model.decoder, model.decoder.start(model.encoder(SOURCES)), begin, limits)
        assert [hypotheses[0].ids for hypotheses in found] == LABELS.tolist()


def test_without_positions_all_orders_of_the_source_look_the_same() -> None:
    # The memory is a set, so each of the 24 orders can have probability 1/24 at best: ln 24 nats.
    _, loss = learned(300, positions="none")
    assert math.log(24) - 1e-4 < loss < math.log(24) + 0.3
