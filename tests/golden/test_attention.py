"""Attention worked on paper: the numbers of the lectures, small enough to redo."""

import math

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from regard.attention import (
    Attention,
    Causal,
    Dot,
    KeyValues,
    Lengths,
    ScaledDot,
    Segments,
    Softmax,
    Window,
    attend,
    causal,
    softmax,
    weighted_sum,
)
from regard.attention import scores as scoring
from regard.attention.masks import Table, visible
from regard.trace import trace

# What is printed with four decimals is known to half of the last.
PRINTED = 5e-5


def heads(rows: list[list[float]]) -> Tensor:
    """Return rows as one sentence with one head: B H T E."""
    return torch.tensor(rows, dtype=torch.float64)[None, None]


def close(x_BHTE: Tensor, rows: list[list[float]], tolerance: float = PRINTED) -> None:
    assert_close(x_BHTE, heads(rows), atol=tolerance, rtol=0)


# One query, two keys (all lectures: a query, scores, weights, a weighted sum).


def test_a_query_takes_most_from_the_key_that_points_its_way() -> None:
    q, k, v = heads([[1, 0]]), heads([[1, 0], [0, 1]]), heads([[10], [20]])
    scores = Dot(1, 2, 2)(q, k)
    assert scores.tolist() == [[[[1, 0]]]]
    close(softmax(scores), [[0.73106, 0.26894]], 5e-6)  # e/(e+1) and 1/(e+1)
    close(attend(q, KeyValues(k, v), score=Dot(1, 2, 2)), [[10 + 10 / (math.e + 1)]], 1e-14)


def test_equal_scores_share_the_weight() -> None:
    k, v = heads([[1, 0], [0, 1], [5, 5]]), heads([[3], [6], [9]])
    close(attend(heads([[0, 0]]), KeyValues(k, v), score=ScaledDot(1, 2, 2)), [[6]], 1e-14)


def test_a_score_far_above_the_others_returns_its_value() -> None:
    k, v = heads([[0], [1000], [0]]), heads([[1, 2], [3, 4], [5, 6]])
    assert attend(heads([[1]]), KeyValues(k, v), score=Dot(1, 1, 1)).tolist() == [[[[3, 4]]]]


def test_values_may_have_any_width_and_every_query_one_context() -> None:
    # x: 5 inputs; q: 2 queries of width 3; v: width 7 (the general attention layer: y is queries × width of a value).
    q, k, v = torch.ones(1, 1, 2, 3), torch.ones(1, 1, 5, 3), torch.arange(35.0).view(1, 1, 5, 7)
    context = attend(q, KeyValues(k, v), score=Dot(1, 3, 3))
    assert context.shape == (1, 1, 2, 7)
    # Weights are shared out among the inputs, a fifth to each.
    close(context.double(), [[14, 15, 16, 17, 18, 19, 20]] * 2, 1e-5)


# "Illustrated self-attention": three inputs and three matrices, self-attention without and with √d.

X = heads([[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]])
Q = X @ heads([[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]])
K = X @ heads([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]])
V = X @ heads([[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]])


def test_the_inputs_become_the_printed_queries_keys_and_values() -> None:
    close(Q, [[1, 0, 2], [2, 2, 2], [2, 1, 3]], 0)
    close(K, [[0, 1, 1], [4, 4, 0], [2, 3, 1]], 0)
    close(V, [[1, 2, 3], [2, 8, 0], [2, 6, 3]], 0)


def test_three_inputs_attend_without_scaling() -> None:
    scores = Dot(1, 3, 3)(Q, K)
    close(scores, [[2, 4, 4], [4, 16, 12], [4, 12, 10]], 0)
    close(softmax(scores), [[0.0634, 0.4683, 0.4683], [0.0000, 0.9820, 0.0180], [0.0003, 0.8805, 0.1192]])
    close(
        attend(Q, KeyValues(K, V), score=Dot(1, 3, 3)),
        [[1.9366, 6.6831, 1.5951], [2.0000, 7.9640, 0.0540], [1.9997, 7.7599, 0.3584]],
    )


def test_three_inputs_attend_with_scaling() -> None:
    scores = ScaledDot(1, 3, 3)(Q, K)
    root = math.sqrt(3)
    close(
        scores,
        [[2 / root, 4 / root, 4 / root], [4 / root, 16 / root, 12 / root], [4 / root, 12 / root, 10 / root]],
        1e-14,
    )
    close(softmax(scores)[..., :1, :], [[0.1361, 0.4319, 0.4319]])
    close(
        attend(Q, KeyValues(K, V), score=ScaledDot(1, 3, 3)),
        [[1.8639, 6.3194, 1.7042], [1.9991, 7.8141, 0.2735], [1.9926, 7.4796, 0.7359]],
    )


def test_the_printed_outputs_follow_from_the_printed_weights() -> None:
    printed = heads([[0, 0.5, 0.5], [0, 1, 0], [0, 0.9, 0.1]])
    close(weighted_sum(printed, V), [[2.0, 7.0, 1.5], [2.0, 8.0, 0.0], [2.0, 7.8, 0.3]], 1e-14)


# "Thinking Machines": q·k is 112 and 96, 64 wide.


def test_thinking_machines() -> None:
    q, k = torch.ones(1, 1, 1, 64), torch.tensor([[1.75] * 64, [1.5] * 64])[None, None]
    assert Dot(1, 64, 64)(q, k).tolist() == [[[[112, 96]]]]
    scores = ScaledDot(1, 64, 64)(q, k)
    assert scores.tolist() == [[[[14, 12]]]]
    close(softmax(scores).double(), [[0.8808, 0.1192]])


# Why divide by √d.


@pytest.mark.parametrize(("width", "spread"), [(4, 2.0), (64, 8.0), (512, 22.63)])
def test_dot_products_spread_as_the_root_of_the_width_and_scaled_ones_as_one(width: int, spread: float) -> None:
    # 20,000 draws: the standard error of the spread is below 0.7 %, the claim is 2 %.
    chance = torch.Generator().manual_seed(width)
    q, k = (torch.randn(20_000, 1, 1, width, generator=chance) for _ in "qk")
    assert float(Dot(1, width, width)(q, k).std()) == pytest.approx(spread, rel=0.02)
    assert float(ScaledDot(1, width, width)(q, k).std()) == pytest.approx(1.0, rel=0.02)


def test_without_scaling_wide_queries_see_almost_one_key_only() -> None:
    chance = torch.Generator().manual_seed(0)
    q, k = (torch.randn(1, 1, 50, 512, generator=chance) for _ in "qk")

    def entropy(score: scoring.Score) -> Tensor:
        weights = softmax(score(q, k))
        return -torch.xlogy(weights, weights).sum(-1)

    assert bool((entropy(Dot(1, 512, 512)) < entropy(ScaledDot(1, 512, 512))).all())


def test_scaling_comes_before_the_product_so_that_half_precision_holds_it() -> None:
    # 64 · 40 · 40 = 102,400 is above the largest half, 65,504; divided by 8 it is 12,800.
    q = torch.full((1, 1, 1, 64), 40.0, dtype=torch.float16)
    assert ScaledDot(1, 64, 64)(q, q).item() == 12_800


# Softmax.


@pytest.mark.parametrize("largest", [1.0, 100.0, 1e4])
def test_softmax_of_10000_random_rows(largest: float) -> None:
    chance = torch.Generator().manual_seed(0)
    scores = (2 * torch.rand(100, 10, 10, 17, generator=chance) - 1) * largest
    weights = softmax(scores)
    assert bool(weights.isfinite().all())
    assert bool((weights >= 0).all())
    # Seventeen float32 numbers below one: rounding stays under 1e-6.
    assert_close(weights.sum(-1), torch.ones(100, 10, 10), atol=1e-6, rtol=0)
    # Shift by a power of two, in float64, where the shifted scores are exact to 1e-12.
    assert_close(softmax(scores.double() + 1024), softmax(scores.double()), atol=1e-11, rtol=0)


def test_softmax_is_never_zero_but_rounding_is() -> None:
    scores = heads([[0, -100, -800]])
    weights = softmax(scores)[0, 0, 0]
    assert 0 < float(weights[1]) < 1e-43
    assert float(weights[2]) == 0.0  # exp(−800) is below the smallest float64


def entropies(temperatures: list[float], scores: Tensor) -> Tensor:
    weights = torch.stack([Softmax(temperature)(scores) for temperature in temperatures])
    return -torch.xlogy(weights, weights).sum(-1)


def test_a_higher_temperature_never_lowers_the_entropy() -> None:
    scores = torch.randn(100, 1, 10, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = entropies([0, 0.01, 0.1, 0.3, 0.7, 1.0, 1.5, 3.0, 10.0, 1000.0], scores)
    assert bool((found.diff(dim=0) >= -1e-12).all())  # rounding of a sum of nine numbers


def test_an_endless_temperature_gives_each_word_equal_probability() -> None:
    close(Softmax(1e9)(heads([[3, -1, 2, 0]])), [[0.25] * 4], 1e-6)


@pytest.mark.parametrize("temperature", [0.0, 1e-3])
def test_no_temperature_gives_all_weight_to_the_largest_score(temperature: float) -> None:
    assert Softmax(temperature)(heads([[1, 3, 2], [-5, -7, -6]])).tolist() == [[[[0, 1, 0], [1, 0, 0]]]]
    assert Softmax(temperature)(heads([[4, 1, 4]])).tolist() == [[[[0.5, 0, 0.5]]]]


@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0, 2.0])
def test_a_temperature_leaves_what_is_hidden_hidden(temperature: float) -> None:
    mask = torch.tensor([[True, False, True], [False, False, False]])
    weights = Softmax(temperature)(heads([[0, 9, 1], [1, 2, 3]]), mask)
    assert weights[0, 0, 0, 1] == 0
    assert float(weights[0, 0, 0].sum()) == pytest.approx(1.0)
    assert weights[0, 0, 1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("temperature", [-1.0, math.nan])
def test_an_impossible_temperature_is_refused(temperature: float) -> None:
    with pytest.raises(ValueError, match=f"temperature is {temperature}, but must be 0 or more"):
        Softmax(temperature)


# Masks: T queries, S keys, true means: may look.


def table(mask: object, targets: int, sources: int, at_BT: Tensor | None = None, at_BS: Tensor | None = None) -> Tensor:
    found = visible(mask, targets, sources, at_BT, at_BS, torch.device("cpu"))
    assert found is not None
    return found.int()


def test_causal_hides_the_future() -> None:
    assert table(causal, 3, 3).tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]]


def test_queries_are_the_newest_of_the_keys() -> None:
    assert table(causal, 2, 4).tolist() == [[[[1, 1, 1, 0], [1, 1, 1, 1]]]]
    assert table(Window(1), 2, 4).tolist() == [[[[0, 1, 1, 1], [0, 0, 1, 1]]]]


def test_positions_are_values_one_row_a_sentence() -> None:
    at_BT, at_BS = torch.tensor([[5], [7]]), torch.tensor([[4, 5, 6, 7], [7, 6, 5, 9]])
    assert table(causal, 1, 4, at_BT, at_BS).tolist() == [[[[1, 1, 0, 0]]], [[[1, 1, 1, 0]]]]
    assert table(Window(1), 1, 4, at_BT, at_BS).tolist() == [[[[1, 1, 1, 0]]], [[[1, 1, 0, 0]]]]


def test_lengths_hide_the_padding() -> None:
    assert table(Lengths(torch.tensor([3, 1])), 1, 3).tolist() == [[[[1, 1, 1]]], [[[1, 0, 0]]]]


def test_a_window_reaches_to_both_sides() -> None:
    assert table(Window(1), 4, 4).tolist() == [[[[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]]]


def test_segments_are_strangers() -> None:
    of = torch.tensor([[0, 0, 1]])
    assert table(Segments(of, of), 3, 3).tolist() == [[[[1, 1, 0], [1, 1, 0], [0, 0, 1]]]]


def test_two_texts_in_one_row_each_see_their_own_past() -> None:
    of = torch.tensor([[0, 0, 1, 1]])
    rows = [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]]
    assert table(Segments(of, of) & causal, 4, 4).tolist() == [[rows]]


def test_a_table_is_a_mask_on_either_side() -> None:
    allowed = torch.tensor([[True, True], [False, True]])
    for mask in (causal & allowed, allowed & causal, causal & Table(allowed)):
        assert table(mask, 2, 2).tolist() == [[[[1, 0], [0, 1]]]]


def test_nothing_is_computed_where_nothing_is_hidden() -> None:
    assert visible(Causal(), 1, 7, None, None, torch.device("cpu")) is None
    assert visible(None, 3, 3, None, None, torch.device("cpu")) is None


def test_the_past_of_a_position_is_mixed_and_no_more() -> None:
    # Equal keys: the first row has the first value, the second the mean of two, the third of three.
    k, v = heads([[0], [0], [0]]), heads([[3], [5], [10]])
    close(attend(k, KeyValues(k, v), score=Dot(1, 1, 1), mask=causal), [[3], [4], [6]], 1e-14)


def test_a_query_with_nothing_to_look_at_gets_zero_weights_and_a_zero_context() -> None:
    mask = torch.tensor([[True, False], [False, False]])
    scores = heads([[1, 2], [3, 4]])
    assert softmax(scores, mask).tolist() == [[[[1, 0], [0, 0]]]]
    q, k, v = heads([[1], [1]]), heads([[1], [2]]), heads([[7], [8]])
    assert attend(q, KeyValues(k, v), score=Dot(1, 1, 1), mask=mask).tolist() == [[[[7], [0]]]]


# What a caller can get wrong. The fused kernel (from 128 × 128 on) refuses what the explicit form refuses.


@pytest.mark.parametrize(("targets", "sources"), [(12, 20), (200, 210)])
def test_a_mask_of_another_shape_is_refused(targets: int, sources: int) -> None:
    q, kv = torch.zeros(8, 4, targets, 2), KeyValues(*(torch.zeros(8, 4, sources, 2) for _ in "kv"))

    def ask(mask: Tensor) -> None:
        attend(q, kv, score=ScaledDot(4, 2, 2), mask=mask)

    shape = rf"batch×heads×targets×sources = \(8, 4, {targets}, {sources}\)"
    with pytest.raises(ValueError, match=rf"shape \(8, {sources}\) .* {shape}; for source padding write mask\[:, None"):
        ask(torch.ones(8, sources, dtype=torch.bool))
    with pytest.raises(ValueError, match=rf"shape \(2, 1, 1, {sources}\) but must broadcast to {shape}"):
        ask(torch.ones(2, 1, 1, sources, dtype=torch.bool))
    with pytest.raises(ValueError, match=rf"shape \(3, 8, 4, {targets}, {sources}\) but must broadcast to {shape}"):
        ask(torch.ones(3, 8, 4, targets, sources, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"type torch.float32 but must be boolean \(True means: may look\)"):
        ask(torch.zeros(8, 1, 1, sources))


@pytest.mark.parametrize(("targets", "sources"), [(8, 20), (200, 210)])
def test_two_axes_are_refused_where_sentences_and_queries_are_as_many(targets: int, sources: int) -> None:
    # The table would broadcast as queries × keys, even where padding of sentences is meant.
    q, kv = torch.zeros(targets, 1, targets, 2), KeyValues(*(torch.zeros(targets, 1, sources, 2) for _ in "kv"))
    mask = torch.ones(targets, sources, dtype=torch.bool)
    hints = r"for source padding write mask\[:, None, None, :\], for a table of queries and keys mask\[None, None\]"
    with pytest.raises(ValueError, match=hints):
        attend(q, kv, score=ScaledDot(1, 2, 2), mask=mask)
    for clear in (mask[:, None, None, :], mask[None, None]):
        assert attend(q, kv, score=ScaledDot(1, 2, 2), mask=clear).shape == q.shape


@pytest.mark.parametrize("sources", [20, 20_000])
def test_lengths_of_other_sentences_are_refused(sources: int) -> None:
    q, kv = torch.zeros(2, 1, 1, 2), KeyValues(*(torch.zeros(2, 1, sources, 2) for _ in "kv"))
    with pytest.raises(ValueError, match=rf"mask has shape \(3, 1, 1, {sources}\) but must broadcast to"):
        attend(q, kv, score=ScaledDot(1, 2, 2), mask=Lengths(torch.tensor([1, 2, 3])))


def test_a_width_that_heads_cannot_share_is_refused() -> None:
    with pytest.raises(ValueError, match="width 10 cannot be shared out among 4 heads; choose a multiple of 4"):
        Attention(4, 10)


def test_a_dot_product_of_unlike_widths_is_refused() -> None:
    with pytest.raises(ValueError, match="queries are 3 wide and keys 4"):
        Dot(1, 3, 4)


def test_an_unknown_score_is_refused_with_the_known_ones() -> None:
    assert scoring.find("scaled") is ScaledDot
    with pytest.raises(ValueError, match=r"there is no score 'cosin'; there are: .*\bdot\b.*\bscaled\b"):
        scoring.find("cosin")


# Heads.


def test_heads_share_out_the_width_in_order_and_are_written_side_by_side() -> None:
    attention = Attention(2, 4).double()
    with torch.no_grad():
        for linear in (attention.query, attention.key, attention.value, attention.output):
            linear.weight.copy_(torch.eye(4))
            linear.bias.zero_()
    # Head 1 sees columns 1 and 2, head 2 columns 3 and 4. Its query meets only one key that is not zero.
    x = torch.tensor([[[100.0, 0, 0, 0], [0, 0, 0, 100.0]]], dtype=torch.float64)
    with trace(attention) as seen:
        out = attention(x, attention.keys_values(x))
    assert seen["weights"].tolist() == [[[[1, 0], [0.5, 0.5]], [[0.5, 0.5], [0, 1]]]]
    assert out.tolist() == [[[100, 0, 0, 50], [50, 0, 0, 100]]]
