"""The whole Transformer against one written down in forty lines, formula by formula, one sentence at a time."""

import math
from collections.abc import Callable, Iterator
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from regard.models.transformer import Sizes
from tests.small import VARIANTS, double, small, tokens

Parameters = dict[str, Tensor]


@pytest.fixture(autouse=True)
def in_double() -> Iterator[None]:
    with double():
        yield


# The oracle. It knows the sizes and the parameters by name; it has no batch, no cache, no mask and no module.


def linear(p: Parameters, name: str, x: Tensor) -> Tensor:
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


def norm(p: Parameters, name: str, x: Tensor) -> Tensor:
    x = x - x.mean(-1, keepdim=True)
    return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * p[f"{name}.weight"] + p[f"{name}.bias"]


def attention(
    p: Parameters, name: str, sizes: Sizes, x: Tensor, memory: Tensor | None = None, past_only: bool = False
) -> Tensor:
    memory = x if memory is None else memory
    q, k, v = linear(p, f"{name}.query", x), linear(p, f"{name}.key", memory), linear(p, f"{name}.value", memory)
    heads, size = [], sizes.width // sizes.heads
    for h in range(0, sizes.width, size):
        scores = q[:, h : h + size] @ k[:, h : h + size].T / (math.sqrt(size) if sizes.score == "scaled" else 1)
        rows = [scores[t, : t + 1] if past_only else scores[t] for t in range(len(x))]
        weights = [(row - row.max()).exp() / (row - row.max()).exp().sum() for row in rows]
        heads.append(torch.stack([weights[t] @ v[: len(weights[t]), h : h + size] for t in range(len(x))]))
    return linear(p, f"{name}.output", torch.cat(heads, dim=1))


def feed_forward(p: Parameters, name: str, sizes: Sizes, x: Tensor) -> Tensor:
    x = linear(p, f"{name}.inner", x)
    x = x.clamp(min=0) if sizes.activation == "relu" else x * (1 + torch.erf(x / math.sqrt(2))) / 2
    return linear(p, f"{name}.outer", x)


def positions(p: Parameters, name: str, sizes: Sizes, width: int, length: int) -> Tensor:
    if sizes.positions == "learned":
        return p[f"{name}.positions.table"][:length]
    if sizes.positions == "none":
        return torch.zeros(length, width)
    pairs = width // 2
    steps = pairs - 1 if sizes.positions == "tensor2tensor" else pairs
    rows = [
        [math.sin((t + sizes.position_start) / 10_000 ** (i / steps)) for i in range(pairs)]
        + [math.cos((t + sizes.position_start) / 10_000 ** (i / steps)) for i in range(pairs)]
        for t in range(length)
    ]
    x = torch.tensor(rows)
    return x.view(length, 2, pairs).transpose(1, 2).flatten(1) if sizes.positions == "interleaved" else x


def embedded(p: Parameters, name: str, sizes: Sizes, ids: list[int]) -> Tensor:
    table = p[f"{name}.table"]
    x = torch.stack([table[token] for token in ids]) * math.sqrt(table.shape[1])
    if sizes.combine == "concatenate":
        return torch.cat([x, positions(p, name, sizes, sizes.width // 2, len(ids))], dim=1)
    return x + positions(p, name, sizes, sizes.width, len(ids))


def around(p: Parameters, name: str, sizes: Sizes, x: Tensor, layer: Callable[[Tensor], Tensor]) -> Tensor:
    if sizes.norm == "pre":
        return x + layer(norm(p, f"{name}.norm", x))
    return norm(p, f"{name}.norm", x + layer(x))


def logits(p: Parameters, sizes: Sizes, source: list[int], target: list[int]) -> Tensor:
    x = embedded(p, "encoder.embedding", sizes, source)
    for n in range(sizes.encoder_layers):
        e = f"encoder.layers.{n}"
        x = around(p, f"{e}.around_self", sizes, x, partial(attention, p, f"{e}.self", sizes))
        x = around(p, f"{e}.around_feed_forward", sizes, x, partial(feed_forward, p, f"{e}.feed_forward", sizes))
    memory = norm(p, "encoder.norm", x) if sizes.norm == "pre" else x
    y = embedded(p, "decoder.embedding", sizes, target)
    for n in range(sizes.decoder_layers):
        d = f"decoder.layers.{n}"
        y = around(p, f"{d}.around_self", sizes, y, partial(attention, p, f"{d}.self", sizes, past_only=True))
        y = around(p, f"{d}.around_cross", sizes, y, partial(attention, p, f"{d}.cross", sizes, memory=memory))
        y = around(p, f"{d}.around_feed_forward", sizes, y, partial(feed_forward, p, f"{d}.feed_forward", sizes))
    y = norm(p, "decoder.norm", y) if sizes.norm == "pre" else y
    return y @ (p["decoder.embedding.table"] if sizes.tied else p["decoder.output.weight"]).T


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_whole_model_equals_the_one_written_down(variant: str) -> None:
    given = {"vocabulary": 23, "width": 8, "inner": 12, "heads": 2, "encoder_layers": 2, "decoder_layers": 2}
    sizes = Sizes(**{**given, "dropout": 0.0, **VARIANTS[variant]})
    for seed in range(2):
        model = small(seed, **VARIANTS[variant])
        p = {name: parameter.detach() for name, parameter in model.state_dict().items()}
        source_BS, target_BT, lengths_B = tokens(4, 7, seed), tokens(4, 6, 10 + seed), torch.tensor([7, 1, 3, 6])
        with torch.inference_mode():
            found_BTV = model(source_BS, lengths_B, target_BT)
            for row, length in enumerate(lengths_B.tolist()):
                expected_TV = logits(p, sizes, source_BS[row, :length].tolist(), target_BT[row].tolist())
                # Float64, through four layers; logits are about ten.
                assert_close(found_BTV[row], expected_TV, atol=1e-12, rtol=0)


def test_the_model_has_no_parameter_that_the_one_written_down_does_not_read() -> None:
    sizes, read = Sizes(23, width=8, inner=12, heads=2, encoder_layers=2, decoder_layers=2, norm="pre"), set()

    class Watched(dict[str, Tensor]):
        def __getitem__(self, name: str) -> Tensor:
            read.add(name)
            return super().__getitem__(name)

    p = Watched(small(norm="pre").state_dict())
    logits(p, sizes, [4, 5], [6, 7, 8])
    assert read == set(p)
