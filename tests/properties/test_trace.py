"""Looking changes nothing, shows what was used, and leaves nothing behind."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from regard.attention import Attention, Lengths, ScaledDot, Score, causal, kernels
from regard.models.encoder_decoder import EncoderDecoder
from regard.state import State
from regard.trace import Seen, looking, note, trace
from tests.small import VARIANTS, memory, noise, randomised, small, tokens

every_model = pytest.mark.parametrize("variant", VARIANTS)
LENGTHS = torch.tensor([6, 2, 4])


def asked(model: nn.Module) -> Tensor:
    """Return the logits of three pairs, two of the sources padded."""
    found: Tensor = model(tokens(3, 6), LENGTHS, tokens(3, 5, seed=1))
    return found


def hooks(model: nn.Module) -> int:
    """Return how many hooks a model carries, of whatever kind."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_forward_hooks_always_called", "_forward_hooks_with_kwargs")
    return sum(len(getattr(module, kind)) for module in model.modules() for kind in kinds)


# What is seen.


@every_model
def test_traced_equals_untraced(variant: str) -> None:
    model = small(**VARIANTS[variant])
    untraced = asked(model)
    with trace(model):
        traced = asked(model)
    assert_close(traced, untraced, atol=1e-5, rtol=0)
    assert_close(traced.softmax(-1).log(), untraced.log_softmax(-1), atol=1e-5, rtol=0)


def test_traced_equals_untraced_where_the_fused_kernel_would_run() -> None:
    model, source_BS, target_BT = small(positions="interleaved"), tokens(2, 150), tokens(2, 140, seed=1)
    assert kernels.WORTHWHILE_ON_CPU <= 140 * 140
    for lengths_B in (None, torch.tensor([150, 90])):
        untraced = model(source_BS, lengths_B, target_BT)
        with trace(model) as seen:
            traced = model(source_BS, lengths_B, target_BT)
        assert len(seen.all("weights")) == 6
        assert_close(traced, untraced, atol=1e-5, rtol=0)


@every_model
def test_traced_weights_are_the_softmax_of_traced_queries_and_keys(variant: str) -> None:
    model = small(**VARIANTS[variant])
    with trace(model) as seen:
        asked(model)
    for path, weights_BHTS in seen.all("weights").items():
        q_BHTE, k_BHSE, v_BHSE = (seen[f"{path}.{label}"] for label in "qkv")
        scores_BHTS = torch.einsum("bhte,bhse->bhts", q_BHTE, k_BHSE)
        if VARIANTS[variant].get("score", "scaled") == "scaled":
            scores_BHTS = scores_BHTS / q_BHTE.shape[-1] ** 0.5
        assert_close(seen[f"{path}.scores"], scores_BHTS, atol=1e-5, rtol=1e-6)
        if f"{path}.mask" in seen:
            scores_BHTS = scores_BHTS.masked_fill(~seen[f"{path}.mask"], -torch.inf)
        assert_close(weights_BHTS, scores_BHTS.softmax(-1), atol=1e-6, rtol=0)
        assert_close(seen[f"{path}.context"], weights_BHTS @ v_BHSE, atol=1e-6, rtol=0)


def test_masks_are_seen_as_they_were_used() -> None:
    model = small()
    with trace(model) as seen:
        asked(model)
    there = torch.arange(6) < LENGTHS[:, None]
    past = torch.ones(5, 5, dtype=torch.bool).tril()
    for layer in "01":
        assert torch.equal(seen[f"encoder.layers.{layer}.self.mask"], there[:, None, None].expand(3, 2, 6, 6))
        assert torch.equal(seen[f"decoder.layers.{layer}.self.mask"], past.expand(3, 2, 5, 5))
        assert torch.equal(seen[f"decoder.layers.{layer}.cross.mask"], there[:, None, None].expand(3, 2, 5, 6))


def test_records_are_named_after_modules_in_the_order_of_the_run() -> None:
    model = small()
    with trace(model) as seen:
        asked(model)
    assert list(seen.all("weights")) == [
        "encoder.layers.0.self",
        "encoder.layers.1.self",
        "decoder.layers.0.self",
        "decoder.layers.0.cross",
        "decoder.layers.1.self",
        "decoder.layers.1.cross",
    ]
    assert seen["decoder.layers.1.cross.weights"].shape == (3, 2, 5, 6)
    assert {name.rpartition(".")[2] for name in seen} == {"q", "k", "v", "scores", "mask", "weights", "context"}


def test_the_record_of_a_bare_attention_has_no_path() -> None:
    attention, x = Attention(2, 4), noise(1, 3, 4)
    with trace(attention) as seen:
        attention(x, attention.keys_values(x))
    assert "weights" in seen


def test_an_unknown_record_is_refused_with_the_known_ones() -> None:
    model = small()
    with trace(model) as seen:
        asked(model)
    with pytest.raises(KeyError, match=r"nothing was noted as 'encoder.weights'; there are: encoder.layers.0.self.q, "):
        seen["encoder.weights"]
    with pytest.raises(KeyError, match="no records"):
        Seen()["weights"]


def test_a_decoder_that_writes_step_by_step_shows_the_weights_of_reading_it_once() -> None:
    model, target_BT = small(), tokens(3, 5, seed=1)
    with trace(model) as whole:
        asked(model)
    with trace(model) as stepwise, torch.inference_mode():
        state: State = model.decoder.start(memory(model, tokens(3, 6), LENGTHS))
        for place in range(5):
            _, state = model.decoder(target_BT[:, place : place + 1], state)
    for label in ("q", "weights", "context"):
        assert whole.all(label).keys() == stepwise.all(label).keys()
        for path, expected in whole.all(label).items():
            assert_close(stepwise[f"{path}.{label}"], expected, atol=1e-5, rtol=0)


def test_records_carry_no_gradient_and_the_result_keeps_its_own() -> None:
    model = small()
    with trace(model) as seen:
        asked(model).sum().backward()
    assert not any(seen[name].requires_grad for name in seen)
    assert model.decoder.embedding.table.grad is not None


def test_a_note_inside_a_score_is_named_after_it() -> None:
    class Loud(ScaledDot, name="loud"):
        def forward(self, q_BHTE: Tensor, k_BHSE: Tensor) -> Tensor:
            return note("similarity", super().forward(q_BHTE, k_BHSE))

    del Score.named["loud"]
    attention, x = Attention(2, 4, score=Loud), noise(1, 3, 4)
    with trace(attention) as seen:
        attention(x, attention.keys_values(x), causal)
    assert torch.equal(seen["score.similarity"], seen["scores"])


# Whatever wraps the model.


class Wrapped(nn.Module):
    """What wrappers for many devices do to names."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, *inputs: object) -> Tensor:
        found: Tensor = self.module(*inputs)
        return found


def compiled(module: nn.Module, backend: Callable[..., Any]) -> nn.Module:
    return cast(nn.Module, torch.compile(module, backend=backend))


def refused(graph: object, inputs: object) -> None:
    raise AssertionError("a model was compiled while somebody looked")


@pytest.mark.parametrize("how", ["for many devices", "compiled", "both", "layers compiled", "compiled in place"])
def test_names_are_the_same_whatever_wraps_the_model(how: str) -> None:
    expected = small()
    with trace(expected) as plain:
        logits = asked(expected)
    model: nn.Module = small()
    assert isinstance(model, EncoderDecoder)
    if how == "layers compiled":
        for stack in (model.encoder, model.decoder):
            stack.layers = nn.ModuleList(compiled(layer, refused) for layer in stack.layers)
    elif how == "compiled in place":
        model.compile(backend=refused)
    else:
        if how != "for many devices":
            model = compiled(model, refused)
        if how != "compiled":
            model = Wrapped(model)
    with trace(model) as seen:
        assert torch.equal(asked(model), logits)
    assert list(seen) == list(plain)
    assert all(torch.equal(seen[name], plain[name]) for name in seen)
    assert hooks(model) == 0


def test_a_compiled_model_is_compiled_again_as_soon_as_nobody_looks() -> None:
    graphs: list[object] = []

    def backend(graph: torch.fx.GraphModule, inputs: object) -> object:
        graphs.append(graph)
        return graph.forward

    model = compiled(nn.Linear(2, 2), backend)
    with trace(model):
        model(noise(1, 2))
    assert not graphs
    model(noise(1, 2))
    assert graphs


# Nothing is left behind.


def test_a_trace_leaves_no_hooks_and_nobody_looking() -> None:
    model = small()
    with trace(model):
        asked(model)
        assert looking()
        assert hooks(model) > 0
    assert hooks(model) == 0
    assert not looking()


def test_a_trace_ends_with_the_error_that_it_met() -> None:
    model = small()
    with pytest.raises(IndexError), trace(model):
        model(torch.tensor([[1000]]), None, tokens(1, 2))
    assert hooks(model) == 0
    assert not looking()
    asked(model)


def test_records_after_an_error_have_their_own_names() -> None:
    model = small()
    with trace(model) as expected:
        asked(model)
    with trace(model) as seen:
        for source_BS, lengths_B in ((torch.tensor([[1000]]), None), (tokens(3, 6), torch.tensor([1, 2]))):
            with pytest.raises((IndexError, ValueError)):
                model(source_BS, lengths_B, tokens(3, 5))
        seen.records.clear()
        asked(model)
        note("outside", noise(1))
    assert list(seen) == [*expected, "outside"]


def test_a_trace_within_a_trace_has_its_own_records() -> None:
    model, other = small(), small(seed=1)
    with trace(model) as expected:
        asked(model)
    with trace(model) as outer:
        with pytest.raises(IndexError), trace(model):
            model(torch.tensor([[1000]]), None, tokens(1, 2))
        with trace(other) as inner:
            asked(other)
        with trace(model) as again:
            asked(model)
        assert not list(outer)
        asked(model)
    assert list(outer) == list(inner) == list(again) == list(expected)
    assert torch.equal(outer["encoder.layers.0.self.weights"], expected["encoder.layers.0.self.weights"])
    assert hooks(model) == hooks(other) == 0


def test_nobody_looking_records_nothing() -> None:
    x = noise(2)
    assert note("x", x) is x
    with trace(nn.Identity()) as seen:
        assert note("x", x) is x
    note("x", x)
    assert list(seen) == ["x"]
    assert torch.equal(seen["x"], x)


class Waiting(nn.Module):
    """Somebody else's run is in the middle of this module."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.go_on = threading.Event(), threading.Event()

    def forward(self, x: Tensor) -> Tensor:
        self.inside.set()
        assert self.go_on.wait(10)
        return note("theirs", x)


@pytest.fixture
def waiting() -> Iterator[Waiting]:
    module = Waiting()
    yield module
    module.go_on.set()


def test_what_another_thread_runs_is_not_seen(waiting: Waiting) -> None:
    model = nn.ModuleDict({"theirs": waiting, "mine": randomised(Attention(1, 2))})
    x, mine = noise(1, 1, 2), model["mine"]
    assert isinstance(mine, Attention)
    with trace(model) as seen:
        thread = threading.Thread(target=waiting, args=(x,))
        thread.start()
        assert waiting.inside.wait(10)
        mine(x, mine.keys_values(x), Lengths(torch.tensor([1])))
        note("between", x)
        waiting.go_on.set()
        thread.join()
    assert "between" in seen
    assert set(seen.all("weights")) == {"mine"}
    assert not any("theirs" in name for name in seen)
