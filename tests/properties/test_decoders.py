"""True of every decoder: one forward for training, prompt and single step, and a state that is a value."""

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from regard.attention import kernels
from regard.models.encoder_decoder import Memory
from regard.models.transformer import Sizes
from regard.state import State, select
from tests.small import VARIANTS, Small, double, memory, small, tokens

every_decoder = pytest.mark.parametrize("variant", VARIANTS)

# Float64 unless a test says otherwise: logits are about ten, and some hundred roundings lie behind each.
EXACT = 1e-12


@pytest.fixture(autouse=True)
def in_double() -> Iterator[None]:
    with double():
        yield


def decoder(variant: str, **sizes: Any) -> Small:
    return small(**{**VARIANTS[variant], **sizes})


def started(model: Small, rows: int = 3, columns: int = 5) -> State:
    """Return the state of some sources, all but the first of them shorter."""
    lengths_B = torch.tensor([columns - row % columns for row in range(rows)])
    state: State = model.decoder.start(memory(model, tokens(rows, columns, seed=7), lengths_B))
    return state


def pieces(model: Small, target_BT: Tensor, state: State, cuts: list[int]) -> tuple[Tensor, State]:
    """Return the logits of a target read piece by piece."""
    found = []
    for start, end in zip([0, *cuts], [*cuts, target_BT.shape[1]], strict=True):
        logits_BTV, state = model.decoder(target_BT[:, start:end], state)
        found.append(logits_BTV)
    return torch.cat(found, dim=1), state


# Cached equals full.


CUTS = [list(range(1, 20)), [7], [1, 2, 16, 17, 18], [16]]


@every_decoder
def test_cached_decoding_equals_full_decoding(variant: str) -> None:
    model, target_BT = decoder(variant), tokens(3, 20)
    with torch.inference_mode():
        full_BTV, _ = model.decoder(target_BT, started(model))
        for cuts in CUTS:
            cached_BTV, _ = pieces(model, target_BT, started(model), cuts)
            assert_close(cached_BTV, full_BTV, atol=EXACT, rtol=0)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad])
def test_cached_decoding_equals_full_decoding_outside_of_inference(
    mode: Callable[[], AbstractContextManager[None]],
) -> None:
    model, target_BT = decoder("post-norm"), tokens(3, 20)
    full_BTV, _ = model.decoder(target_BT, started(model))
    (expected,) = torch.autograd.grad(full_BTV.square().sum(), [model.decoder.embedding.table])
    with mode():
        for cuts in CUTS:
            cached_BTV, _ = pieces(model, target_BT, started(model), cuts)
            assert_close(cached_BTV, full_BTV, atol=EXACT, rtol=0)
            if cached_BTV.requires_grad:
                (found,) = torch.autograd.grad(cached_BTV.square().sum(), [model.decoder.embedding.table])
                # Gradients of the squares of a thousand logits are up to a thousand times as large.
                assert_close(found, expected, atol=1e3 * EXACT, rtol=EXACT)


def test_a_state_may_be_gone_on_from_in_any_mode() -> None:
    # What a search left under inference mode may be asked outside of it, and the other way round.
    model, target_BT = decoder("post-norm"), tokens(3, 6)
    expected_BTV, _ = model.decoder(target_BT, started(model))
    modes = [torch.inference_mode, torch.no_grad, torch.enable_grad]
    for first in modes:
        for second in modes:
            state, found = started(model), []
            for place in range(6):
                with (first, second)[place // 2 % 2]():
                    logits_BTV, state = model.decoder(target_BT[:, place : place + 1], state)
                    found.append(logits_BTV)
            assert_close(torch.cat(found, dim=1), expected_BTV, atol=EXACT, rtol=0)


def test_cached_decoding_equals_full_decoding_on_500_sentences() -> None:
    # Float32, written token by token as a search does, in models of a real one's proportions.
    torch.set_default_dtype(torch.float32)
    chance = torch.Generator().manual_seed(0)
    for norm in ("post", "pre"):
        model = small(vocabulary=200, width=64, inner=128, heads=4, norm=norm)
        for batch in range(5):
            source_BS = tokens(50, 16, seed=batch, vocabulary=200)
            lengths_B = torch.randint(1, 17, (50,), generator=chance)
            written_BT, steps = torch.ones(50, 1, dtype=torch.long), []
            with torch.inference_mode():
                state = model.decoder.start(memory(model, source_BS, lengths_B))
                for _ in range(24):
                    logits_B1V, state = model.decoder(written_BT[:, -1:], state)
                    steps.append(logits_B1V)
                    # Drawn rather than the likeliest: no two texts are the same.
                    drawn_B1 = torch.multinomial(logits_B1V[:, 0].softmax(-1), 1, generator=chance)
                    written_BT = torch.cat([written_BT, drawn_B1], dim=1)
                cached_BTV = torch.cat(steps, dim=1)
                full_BTV = model(source_BS, lengths_B, written_BT[:, :-1])
            assert_close(cached_BTV, full_BTV, atol=1e-5, rtol=0)
            assert torch.equal(cached_BTV.argmax(-1), full_BTV.argmax(-1))


def test_a_cache_is_copied_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    # Copied at every token, a text of 200 would be copied 200 times; doubled, it is copied for 16, 32, 64 and 128.
    copies: list[int] = []
    roomy = kernels.roomy

    def counted(x: Tensor, taken: int, *rest: Any) -> Tensor:
        copies.append(taken)
        return roomy(x, taken, *rest)

    monkeypatch.setattr(kernels, "roomy", counted)
    model = decoder("post-norm", decoder_layers=1)
    with torch.inference_mode():
        pieces(model, tokens(1, 200), started(model, rows=1), list(range(1, 200)))
    assert len(copies) <= 2 * 5  # keys and values


# A state is a value.


@every_decoder
def test_going_on_twice_from_one_state_equals_going_on_from_two_copies(variant: str) -> None:
    model, one_BT, other_BT = decoder(variant), tokens(3, 6, seed=1), tokens(3, 6, seed=2)
    with torch.inference_mode():
        # Single steps, so that there is a buffer with room in it.
        _, state = pieces(model, tokens(3, 4), started(model), [1, 2, 3])
        copies = [copy.deepcopy(state) for _ in range(2)]
        every = list(range(1, 6))
        first, second = pieces(model, one_BT, state, every), pieces(model, other_BT, state, every)
        again = pieces(model, one_BT, state, every)
        apart = [pieces(model, read, kept, every) for read, kept in zip((one_BT, other_BT), copies, strict=True)]
        assert torch.equal(first[0], apart[0][0])
        assert torch.equal(second[0], apart[1][0])
        assert torch.equal(again[0], first[0])
        # And the states behind them go on from where they are.
        for (_, after), (_, kept) in zip((first, second), apart, strict=True):
            assert torch.equal(model.decoder(one_BT, after)[0], model.decoder(one_BT, kept)[0])


@every_decoder
def test_any_tree_of_continuations_and_selections_equals_full_decoding(variant: str) -> None:
    # Go on from any recent state by any number of tokens, or select rows: each is as if read from the start.
    model, chance = decoder(variant), random.Random(variant)
    sources = 2
    with torch.inference_mode():
        start = started(model, rows=sources)
        # Each state with what was written before it.
        grown = [(start, torch.empty(sources, 0, dtype=torch.long))]
        for step in range(30):
            state, written_BT = chance.choice(grown[-6:])
            if written_BT.shape[1] and chance.random() < 0.4:
                # As a beam does: hypotheses are reordered, repeated or dropped within their sentence.
                width, wanted = len(written_BT) // sources, chance.choice([1, 2, 3])
                rows = torch.tensor(
                    [n * width + chance.randrange(width) for n in range(sources) for _ in range(wanted)]
                )
                state, written_BT = select(state, rows), written_BT[rows]
            if written_BT.shape[1] > 40:
                continue
            target_BT = tokens(len(written_BT), chance.choice([1, 1, 1, 2, 5]), seed=step)
            logits_BTV, state = model.decoder(target_BT, state)
            written_BT = torch.cat([written_BT, target_BT], dim=1)
            grown.append((state, written_BT))
            width = len(written_BT) // sources
            whole = select(start, torch.arange(sources), torch.arange(sources).repeat_interleave(width))
            full_BTV, _ = model.decoder(written_BT, whole)
            assert_close(logits_BTV, full_BTV[:, -target_BT.shape[1] :], atol=EXACT, rtol=0)


@every_decoder
def test_selected_rows_go_on_as_they_would_have(variant: str) -> None:
    model, rows = decoder(variant), torch.tensor([2, 0])
    with torch.inference_mode():
        _, state = pieces(model, tokens(3, 5), started(model), [1, 2])
        following = tokens(3, 3, seed=4)
        expected_BTV, _ = model.decoder(following, state)
        found_BTV, _ = model.decoder(following[rows], select(state, rows, rows))
    assert_close(found_BTV, expected_BTV[rows], atol=EXACT, rtol=0)


@every_decoder
def test_hypotheses_that_share_a_memory_equal_a_memory_repeated(variant: str) -> None:
    model, target_BT = decoder(variant), tokens(12, 6)
    with torch.inference_mode():
        shared = started(model)
        repeated = select(shared, torch.arange(3), torch.arange(3).repeat_interleave(4))
        for cuts in ([], [1, 2, 3, 4, 5]):
            found, expected = (pieces(model, target_BT, state, cuts)[0] for state in (shared, repeated))
            assert_close(found, expected, atol=EXACT, rtol=0)


@every_decoder
def test_a_memory_is_projected_once_for_each_sentence(variant: str) -> None:
    model = decoder(variant)
    projected: list[int] = []
    for layer in model.decoder.layers:
        for linear in (layer.cross.key, layer.cross.value):
            linear.register_forward_hook(lambda module, inputs, output: projected.append(len(output)))
    with torch.inference_mode():
        # Two hypotheses each of three sentences, ten tokens: keys and values of three rows a layer, at the start.
        pieces(model, tokens(6, 10), started(model), list(range(1, 10)))
    assert projected == [3] * 2 * len(model.decoder.layers)


# The past ignores the future, and padding changes nothing.


@every_decoder
def test_the_gradient_from_the_future_is_exactly_zero(variant: str) -> None:
    model, kept = decoder(variant), []

    def keep(module: object, inputs: object, output: Tensor) -> None:
        output.retain_grad()
        kept.append(output)

    model.decoder.embedding.register_forward_hook(keep)
    for place in range(6):
        logits_BTV, _ = model.decoder(tokens(3, 6), started(model))
        logits_BTV[:, place, 0].sum().backward()
        gradient_BTD = kept[-1].grad
        assert not gradient_BTD[:, place + 1 :].any()
        assert bool((gradient_BTD[:, : place + 1] != 0).any(-1).all())


@every_decoder
def test_another_future_changes_no_bit_of_the_past(variant: str) -> None:
    model, one, other = decoder(variant), tokens(3, 8, seed=1), tokens(3, 8, seed=2)
    with torch.inference_mode():
        for place in range(1, 8):
            changed = torch.cat([one[:, :place], other[:, place:]], dim=1)
            first, second = (model.decoder(target, started(model))[0][:, :place] for target in (one, changed))
            assert torch.equal(first, second)


@every_decoder
def test_what_stands_in_the_padding_of_a_source_changes_no_bit(variant: str) -> None:
    model, source_BS, lengths_B = decoder(variant), tokens(3, 6), torch.tensor([6, 2, 4])
    other_BS = torch.where(torch.arange(6) < lengths_B[:, None], source_BS, 0)
    with torch.inference_mode():
        assert torch.equal(model(source_BS, lengths_B, tokens(3, 5)), model(other_BS, lengths_B, tokens(3, 5)))


@every_decoder
def test_the_padding_of_a_source_has_no_gradient(variant: str) -> None:
    model, kept = decoder(variant), []

    def keep(module: object, inputs: object, output: Tensor) -> None:
        output.retain_grad()
        kept.append(output)

    model.encoder.embedding.register_forward_hook(keep)
    lengths_B = torch.tensor([6, 2, 4])
    model(tokens(3, 6), lengths_B, tokens(3, 5)).square().sum().backward()
    there_BS = torch.arange(6) < lengths_B[:, None]
    assert not kept[0].grad[~there_BS].any()
    assert bool((kept[0].grad[there_BS] != 0).any(-1).all())


@every_decoder
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_batch_equals_one_at_a_time(variant: str, dtype: torch.dtype) -> None:
    torch.set_default_dtype(dtype)
    model = decoder(variant)
    source_BS, lengths_B, target_BT = tokens(8, 9), torch.tensor([9, 1, 2, 3, 5, 7, 8, 4]), tokens(8, 11, seed=1)
    with torch.inference_mode():
        together_BTV = model(source_BS, lengths_B, target_BT)
        for row, length in enumerate(lengths_B.tolist()):
            alone_BTV = model(source_BS[row : row + 1, :length], None, target_BT[row : row + 1])
            tolerance = EXACT if dtype is torch.float64 else 1e-5
            assert_close(alone_BTV[0], together_BTV[row], atol=tolerance, rtol=0)


# Where a token stands is a value.


@every_decoder
def test_explicit_positions_equal_positions_left_out(variant: str) -> None:
    model, target_BT = decoder(variant), tokens(3, 9)
    at_BT = torch.arange(9).expand(3, -1)
    with torch.inference_mode():
        expected_BTV, _ = model.decoder(target_BT, started(model))
        whole_BTV, _ = model.decoder(target_BT, started(model), at_BT)
        assert_close(whole_BTV, expected_BTV, atol=EXACT, rtol=0)
        state, found = started(model), []
        for start, end in ((0, 4), (4, 5), (5, 6), (6, 9)):
            logits_BTV, state = model.decoder(target_BT[:, start:end], state, at_BT[:, start:end])
            found.append(logits_BTV)
        assert_close(torch.cat(found, dim=1), expected_BTV, atol=EXACT, rtol=0)


@every_decoder
def test_tokens_may_come_in_any_order_as_long_as_they_say_where_they_stand(variant: str) -> None:
    model, target_BT = decoder(variant), tokens(3, 6)
    order = torch.tensor([[5, 2, 0, 3, 1, 4], [0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]])
    rows = torch.arange(3)[:, None]
    with torch.inference_mode():
        expected_BTV, _ = model.decoder(target_BT, started(model))
        found_BTV, _ = model.decoder(target_BT[rows, order], started(model), order)
    assert_close(found_BTV, expected_BTV[rows, order], atol=EXACT, rtol=0)


@pytest.mark.parametrize("variant", [name for name, sizes in VARIANTS.items() if sizes.get("positions") != "learned"])
def test_prompts_of_mixed_length_go_on_as_each_would_alone(variant: str) -> None:
    # What fills up a shorter prompt is said to stand where no text will come to, so nobody sees it.
    model, lengths, more_BT = decoder(variant), [5, 2, 3], tokens(3, 4, seed=1)
    prompt_BT, place_T = tokens(3, 5), torch.arange(5)
    ends_B1 = torch.tensor(lengths)[:, None]
    at_BT = torch.where(place_T < ends_B1, place_T, 10_000)
    with torch.inference_mode():
        _, state = model.decoder(prompt_BT, started(model), at_BT)
        found = []
        for place in range(4):
            logits_BTV, state = model.decoder(more_BT[:, place : place + 1], state, ends_B1 + place)
            found.append(logits_BTV)
        for row, length in enumerate(lengths):
            alone_BT = torch.cat([prompt_BT[row : row + 1, :length], more_BT[row : row + 1]], dim=1)
            start = select(started(model), torch.tensor([row]), torch.tensor([row]))
            expected_BTV, _ = model.decoder(alone_BT, start)
            assert_close(torch.cat(found, dim=1)[row], expected_BTV[0, length:], atol=EXACT, rtol=0)


@every_decoder
def test_selected_rows_keep_where_they_stand(variant: str) -> None:
    model, target_BT, rows = decoder(variant), tokens(3, 6), torch.tensor([2, 0, 0])
    at_BT = torch.tensor([[0, 1, 2, 3, 4, 5], [0, 2, 4, 6, 8, 10], [3, 4, 5, 6, 7, 8]])
    with torch.inference_mode():
        expected_BTV, _ = model.decoder(target_BT, started(model), at_BT)
        _, state = model.decoder(target_BT[:, :4], started(model), at_BT[:, :4])
        found_BTV, _ = model.decoder(target_BT[rows, 4:], select(state, rows, rows), at_BT[rows, 4:])
    assert_close(found_BTV, expected_BTV[rows, 4:], atol=EXACT, rtol=0)


# The whole model.


def test_without_positions_a_permuted_source_gives_a_permuted_memory() -> None:
    model, source_BS, order = decoder("no positions"), tokens(3, 6), torch.tensor([5, 2, 0, 3, 1, 4])
    with torch.inference_mode():
        given, permuted = memory(model, source_BS), memory(model, source_BS[:, order])
        assert_close(permuted.x_BSD, given.x_BSD[:, order], atol=1e-14, rtol=0)
        # Who asks such a memory does not notice that it was permuted.
        logits, others = (model.decoder(tokens(3, 5), model.decoder.start(each))[0] for each in (given, permuted))
        assert_close(others, logits, atol=EXACT, rtol=0)


@pytest.mark.parametrize("positions", ["interleaved", "concatenated", "tensor2tensor", "learned"])
def test_with_positions_a_permuted_source_gives_another_memory(positions: str) -> None:
    model, source_BS, order = small(positions=positions), tokens(3, 6), torch.tensor([5, 2, 0, 3, 1, 4])
    with torch.inference_mode():
        given, permuted = memory(model, source_BS), memory(model, source_BS[:, order])
    assert float((permuted.x_BSD - given.x_BSD[:, order]).abs().max()) > 1e-3


def test_without_attention_every_place_is_on_its_own() -> None:
    # Norm and feed-forward see one vector at a time: with attention silenced, a token's memory is the same anywhere.
    model = decoder("no positions")
    with torch.no_grad():
        for layer in model.encoder.layers:
            layer.self.output.weight.zero_()
        together = memory(model, torch.tensor([[5, 6, 7, 6, 5]])).x_BSD[0]
        alone = torch.cat([memory(model, torch.tensor([[token]])).x_BSD[0] for token in (5, 6, 7, 6, 5)])
    assert_close(together, alone, atol=EXACT, rtol=0)


@every_decoder
def test_probabilities_sum_to_one(variant: str) -> None:
    model = decoder(variant)
    logits_BTV, _ = model.decoder(tokens(3, 6), started(model))
    assert logits_BTV.shape == (3, 6, 23)
    assert_close(logits_BTV.log_softmax(-1).logsumexp(-1), torch.zeros(3, 6), atol=1e-14, rtol=0)


def test_tied_weights_share_their_storage() -> None:
    model = small()
    assert model.encoder.embedding.table is model.decoder.embedding.table
    assert model.decoder.output is None
    assert sum(parameter.shape == (23, 8) for parameter in model.parameters()) == 1
    # What the output learns, the embeddings of both sides have learned.
    model.decoder(tokens(1, 2), model.decoder.start(memory(model, tokens(1, 2))))[0][..., 0].sum().backward()
    assert model.encoder.embedding.table.grad is model.decoder.embedding.table.grad
    apart = small(source_vocabulary=17)
    assert apart.encoder.embedding.table.shape == (17, 8)
    assert apart.decoder.output is None
    untied = small(tied=False)
    assert sum(parameter.shape == (23, 8) for parameter in untied.parameters()) == 3


def test_concatenated_positions_cannot_be_tied() -> None:
    with pytest.raises(ValueError, match="concatenated positions leave the embeddings narrower .* --no-tied"):
        Sizes(23, combine="concatenate")


def test_a_step_beyond_the_learned_positions_is_a_clear_error() -> None:
    model = decoder("learned", longest=6)
    with torch.inference_mode():
        _, state = model.decoder(tokens(3, 6), started(model))
        with pytest.raises(ValueError, match="position 6 was asked for, but the learned table has positions 0 to 5"):
            model.decoder(tokens(3, 1), state)
        with pytest.raises(ValueError, match="position 6 was asked for"):
            memory(model, tokens(1, 7))


def test_a_source_that_is_not_padded_needs_no_lengths() -> None:
    model, source_BS = decoder("post-norm"), tokens(3, 6)
    with torch.inference_mode():
        assert torch.equal(model(source_BS, None, tokens(3, 4)), model(source_BS, torch.tensor([6] * 3), tokens(3, 4)))
    assert isinstance(memory(model, source_BS), Memory)
