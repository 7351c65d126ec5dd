"""Searches worked on paper: a model is a table from what was written to the probabilities of what comes next."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from regard.decoding.beam import search as beam
from regard.decoding.contract import Hypothesis, Limits
from regard.decoding.greedy import search as greedy
from regard.decoding.sample import draw
from regard.state import State

START, END, A, B = 0, 1, 2, 3
ONE_SENTENCE = torch.tensor([START])
NOTHING = State(None, torch.zeros(1, 0, dtype=torch.long))

# The likeliest first word leads into a garden path: A, then nothing much; B is less likely, but then all is clear.
GARDEN = {
    (): [0.0, 0.0, 0.6, 0.4],
    (A,): [0.0, 0.3, 0.4, 0.3],
    (A, A): [0.0, 1.0, 0.0, 0.0],
    (A, B): [0.0, 1.0, 0.0, 0.0],
    (B,): [0.0, 0.9, 0.05, 0.05],
}


def table(probabilities: dict[tuple[int, ...], list[float]]) -> Callable[[Tensor, State], tuple[Tensor, State]]:
    """Return a step that looks up what was written; what is not in the table ends with certainty."""

    def step(tokens_BT: Tensor, state: State) -> tuple[Tensor, State]:
        read_BT = torch.cat([state.past, tokens_BT], dim=1)
        places = range(state.past.shape[1] + 1, read_BT.shape[1] + 1)
        rows = [
            [probabilities.get(tuple(read[1:place]), [0.0, 1.0, 0.0, 0.0]) for place in places]
            for read in read_BT.tolist()
        ]
        return torch.tensor(rows).log(), State(state.memory, read_BT)

    return step


def test_greedy_search_takes_the_likeliest_id_at_every_place() -> None:
    ((one,),) = greedy(table(GARDEN), NOTHING, ONE_SENTENCE, Limits([5], END))
    assert one.ids == [A, A, END]
    assert one.score == pytest.approx(math.log(0.6 * 0.4 * 1.0))


def test_a_beam_of_two_finds_what_greedy_search_misses() -> None:
    (found,) = beam(table(GARDEN), NOTHING, ONE_SENTENCE, Limits([5], END), width=2, length_penalty=0.0, n_best=2)
    assert [one.ids for one in found] == [[B, END], [A, A, END]]
    assert [one.score for one in found] == pytest.approx([math.log(0.4 * 0.9), math.log(0.6 * 0.4)])


def test_a_forced_beginning_is_scored() -> None:
    ((one,),) = greedy(table(GARDEN), NOTHING, ONE_SENTENCE, Limits([5], END, prefix=[[B]]))
    assert one.ids == [B, END]
    assert one.score == pytest.approx(math.log(0.4 * 0.9))


def test_an_id_that_never_comes_still_counts_in_the_scores() -> None:
    ((one,),) = greedy(table(GARDEN), NOTHING, ONE_SENTENCE, Limits([5], END, never=(A,)))
    assert one.ids == [B, END]
    assert one.score == pytest.approx(math.log(0.4 * 0.9))


def test_the_end_is_forced_at_the_last_place_and_scored() -> None:
    ((one,),) = greedy(table(GARDEN), NOTHING, ONE_SENTENCE, Limits([2], END))
    assert one.ids == [A, END]
    assert one.score == pytest.approx(math.log(0.6 * 0.3))


# Two texts: the end at once, ln 0.5 = −0.693, or A and the end, ln(0.5·0.8) = −0.916. Their penalties are (6/6)^α = 1
# and (7/6)^α, so the longer one wins as soon as (7/6)^α > 0.916 / 0.693 = 1.322, which is α > 1.81.
SHORT_OR_LONG = {(): [0.0, 0.5, 0.5, 0.0], (A,): [0.0, 0.8, 0.2, 0.0]}


@pytest.mark.parametrize(
    ("alpha", "ids"), [(0.0, [END]), (0.6, [END]), (1.8, [END]), (1.82, [A, END]), (3.0, [A, END])]
)
def test_the_length_penalty_decides_between_short_and_long(alpha: float, ids: list[int]) -> None:
    ((one,),) = beam(table(SHORT_OR_LONG), NOTHING, ONE_SENTENCE, Limits([9], END), width=4, length_penalty=alpha)
    assert one.ids == ids


def test_penalised_scores_of_the_two_texts() -> None:
    (found,) = beam(
        table(SHORT_OR_LONG), NOTHING, ONE_SENTENCE, Limits([2], END), width=4, length_penalty=2.0, n_best=4
    )
    expected = [
        Hypothesis([A, END], math.log(0.4), math.log(0.4) * (6 / 7) ** 2),
        Hypothesis([END], math.log(0.5), math.log(0.5)),
    ]
    for one, other in zip(found, expected, strict=True):
        assert one.ids == other.ids
        assert one[1:] == pytest.approx(other[1:])


@pytest.mark.parametrize(("alpha", "steps"), [(0.0, 1), (-1.0, 1), (0.6, 2), (2.0, 10), (3.0, 20)])
def test_a_beam_goes_on_exactly_as_long_as_something_can_be_overtaken(alpha: float, steps: int) -> None:
    """At every place the end has 0.6 and A 0.4: the end at once has ln 0.6 = −0.511, n times A lives with −0.916·n.

    The most that n times A can still reach within 20 ids is −0.916·n / (25/6)^α (α = −1: −0.916·n / (7/6)^−1 or worse).
    α = 0: −0.916 is less than −0.511 at once; so it is for α = −1 (−1.069).
    α = 0.6: (25/6)^0.6 = 2.354; −0.916 / 2.354 = −0.389 goes on, −1.833 / 2.354 = −0.778 stops.
    α = 2: (25/6)² = 17.36; 9·−0.916 / 17.36 = −0.475 goes on, ten times is −0.528 and stops.
    α = 3: (25/6)³ = 72.3; 19·−0.916 / 72.3 = −0.241 goes on, to the limit.
    """
    calls = 0
    inner = table({(A,) * n: [0.0, 0.6, 0.4, 0.0] for n in range(30)})

    def step(tokens_BT: Tensor, state: State) -> tuple[Tensor, State]:
        nonlocal calls
        calls += 1
        return inner(tokens_BT, state)

    beam(step, NOTHING, ONE_SENTENCE, Limits([20], END), width=2, length_penalty=alpha)
    assert calls == steps


def test_a_penalty_on_length_looks_at_the_next_length_and_not_at_the_last() -> None:
    """The end at once has ln 0.3 = −1.204; A lives with ln 0.7 = −0.357, and may end next with −0.357·7/6 = −0.416.

    With the last length, −0.357·25/6 = −1.486, the beam would stop too early. A and the end: ln 0.63·7/6 = −0.539.
    """
    step = table({(): [0.0, 0.3, 0.7, 0.0], (A,): [0.0, 0.9, 0.1, 0.0]})
    ((one,),) = beam(step, NOTHING, ONE_SENTENCE, Limits([20], END), width=2, length_penalty=-1.0)
    assert one.ids == [A, END]
    assert one.penalised == pytest.approx(math.log(0.63) * 7 / 6)


def drawn(p: list[float], u: float, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> int:
    (token,) = draw(torch.tensor([p]).log(), torch.tensor([u]), temperature, top_k, top_p).tolist()
    return int(token)


def test_a_draw_inverts_the_cumulative_distribution() -> None:
    p = [0.5, 0.0, 0.3, 0.2]  # cumulative 0.5, 0.5, 0.8, 1
    assert [drawn(p, u) for u in (0.0, 0.49, 0.51, 0.79, 0.81, 0.9999999)] == [0, 0, 2, 2, 3, 3]


def test_temperature_raises_probabilities_to_its_inverse() -> None:
    p = [0.64, 0.36]
    # T = 2: √p = 0.8, 0.6, of which the first is 0.8 / 1.4 = 0.5714.
    assert [drawn(p, u, temperature=2.0) for u in (0.571, 0.572)] == [0, 1]
    # T = 1/2: p² = 0.4096, 0.1296, of which the first is 0.4096 / 0.5392 = 0.7596.
    assert [drawn(p, u, temperature=0.5) for u in (0.759, 0.760)] == [0, 1]


def test_top_k_keeps_the_k_likeliest() -> None:
    p = [0.2, 0.3, 0.0, 0.5]
    # Two are kept, likeliest first: 0.5 / 0.8 = 0.625, then the id 1.
    assert [drawn(p, u, top_k=2) for u in (0.0, 0.624, 0.626, 0.9999999)] == [3, 3, 1, 1]


def test_top_p_keeps_the_fewest_that_reach_p() -> None:
    p = [0.2, 0.3, 0.0, 0.5]
    assert [drawn(p, u, top_p=0.45) for u in (0.0, 0.9999999)] == [3, 3]
    assert [drawn(p, u, top_p=0.55) for u in (0.624, 0.626, 0.9999999)] == [3, 1, 1]
    assert [drawn(p, u, top_p=0.85) for u in (0.49, 0.51, 0.79, 0.81)] == [3, 1, 1, 0]


def test_top_p_counts_what_top_k_has_left() -> None:
    p = [0.2, 0.3, 0.0, 0.5]
    # After top-k the first holds 0.625 of the mass, and 0.6 is reached by it alone.
    assert [drawn(p, u, top_k=2, top_p=0.6) for u in (0.0, 0.9999999)] == [3, 3]
