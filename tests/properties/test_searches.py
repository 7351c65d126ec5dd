"""True of every search of the folder, new ones included; then what makes beam search and sampling special."""

import bisect
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from regard import decoding
from regard.decoding import contract
from regard.decoding.contract import Hypotheses, Limits
from regard.decoding.sample import draw
from regard.state import State
from tests.toys import END, PAD, START, Toy, starts

every_search = pytest.mark.parametrize("name", decoding.names())
SENTENCES = list(range(12))
LONGEST = [9, 3, 12, 1, 7, 12, 12, 5, 2, 12, 8, 6]
PREFIX = [[], [3, 4], [3], [], [5, 5, 5, 3], [6], [], [3, 3], [4], [3, 4, 5, 6, 3, 4], [], [6, 6]]


def searched(
    name: str,
    toy: Toy,
    sentences: Sequence[int],
    longest: Sequence[int],
    prefix: Sequence[Sequence[int]] | None = None,
    **options: Any,
) -> Hypotheses:
    """Return what a search finds; where it takes seeds, they belong to the sentences."""
    if "seeds" in decoding.options(name):
        options = {"seeds": [100 + sentence for sentence in sentences], **options}
    limits = Limits(longest, END, (PAD, START), prefix)
    found: Hypotheses = decoding.find(name)(toy.step, toy.start(sentences), starts(sentences), limits, **options)
    return found


def several(name: str) -> dict[str, Any]:
    return {"n_best": 3} if "n_best" in decoding.options(name) else {}


def assert_same(found: Hypotheses, expected: Hypotheses) -> None:
    """The same ids; scores may differ by the rounding of sums of some ten float32 numbers below 10."""
    assert [[one.ids for one in row] for row in found] == [[one.ids for one in row] for row in expected]
    for one, other in zip(itertools.chain(*found), itertools.chain(*expected), strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-5)
        assert one.penalised == pytest.approx(other.penalised, abs=1e-5)


@every_search
@pytest.mark.parametrize("prefix", [None, PREFIX])
def test_a_batch_equals_one_at_a_time(name: str, prefix: list[list[int]] | None) -> None:
    toy = Toy()
    together = searched(name, toy, SENTENCES, LONGEST, prefix, **several(name))
    alone = [searched(name, toy, [n], [LONGEST[n]], prefix and [prefix[n]], **several(name))[0] for n in SENTENCES]
    assert_same(together, alone)


@every_search
def test_the_order_of_a_batch_changes_nothing(name: str) -> None:
    order = [7, 2, 11, 0, 3, 9, 1, 10, 5, 4, 8, 6]
    forwards = searched(name, Toy(), SENTENCES, LONGEST, PREFIX, **several(name))
    shuffled = searched(name, Toy(), order, [LONGEST[n] for n in order], [PREFIX[n] for n in order], **several(name))
    assert_same(shuffled, [forwards[n] for n in order])


@every_search
@pytest.mark.parametrize("prefix", [None, PREFIX])
def test_a_returned_score_is_the_models_own_score_of_those_ids(name: str, prefix: list[list[int]] | None) -> None:
    toy = Toy()
    for sentence, hypotheses in enumerate(searched(name, toy, SENTENCES, LONGEST, prefix, **several(name))):
        for one in hypotheses:
            assert one.score == pytest.approx(toy.score(sentence, one.ids), abs=1e-5)


@every_search
def test_a_text_ends_once_within_its_limit_and_without_forbidden_ids(name: str) -> None:
    for end in (-5.0, 0.0, 5.0):
        toy = Toy(end=end)
        for longest, hypotheses in zip(LONGEST, searched(name, toy, SENTENCES, LONGEST, **several(name)), strict=True):
            assert hypotheses
            for one in hypotheses:
                assert len(one.ids) <= longest
                assert one.ids.index(END) == len(one.ids) - 1
                assert not {PAD, START} & set(one.ids)


@every_search
def test_a_text_begins_with_its_prefix_even_a_forbidden_one(name: str) -> None:
    toy = Toy()
    prefix = [*PREFIX[:-1], [PAD, START, 3]]
    for forced, hypotheses in zip(prefix, searched(name, toy, SENTENCES, LONGEST, prefix), strict=True):
        for one in hypotheses:
            assert one.ids[: len(forced)] == forced


@every_search
def test_what_is_forced_comes_even_if_the_model_holds_it_for_impossible(name: str) -> None:
    toy = Toy()
    toy.table_KV[:, [END, 4]] = -math.inf
    found = searched(name, toy, [0, 1, 2], [4, 5, 6], [[4], [3, 4], []], **several(name))
    for longest, forced, hypotheses in zip([4, 5, 6], [[4], [3, 4], []], found, strict=True):
        for one in hypotheses:
            assert one.ids[: len(forced)] == forced
            assert one.ids[-1] == END
            assert len(one.ids) == longest
            assert one.score < -1e29


@every_search
def test_a_shared_prefix_is_read_in_one_step(name: str) -> None:
    toy = Toy()
    prefix = [[3, 4, 5], [3, 4, 5, 6, 6], [6, 3, 3, 3]]
    searched(name, toy, [0, 1, 2], [12] * 3, prefix)
    assert toy.calls[0] == (3, 4)
    assert {new for _, new in toy.calls[1:]} == {1}


@every_search
def test_hypotheses_come_best_first(name: str) -> None:
    for hypotheses in searched(name, Toy(), SENTENCES, [12] * 12, **several(name)):
        values = [one.penalised for one in hypotheses]
        assert values == sorted(values, reverse=True)


@every_search
def test_finished_sentences_leave_the_batch(name: str) -> None:
    toy = Toy(end=2.0)
    sentences = list(range(64))
    found = searched(name, toy, sentences, [30] * 64)
    rows = [rows for rows, _ in toy.calls[1:]]
    width = rows[0] // 64
    assert rows == sorted(rows, reverse=True)
    # After t ids at most a third more sentences are computed than some text still needs.
    for length, computed in enumerate(rows, start=1):
        unfinished = sum(len(hypotheses[0].ids) > length for hypotheses in found)
        assert computed >= unfinished * width
    assert rows[-1] <= 0.5 * rows[0]


@every_search
@pytest.mark.parametrize("worthwhile", [0.0, 1.0])
def test_when_sentences_leave_changes_nothing(name: str, worthwhile: float, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = searched(name, Toy(), SENTENCES, LONGEST, PREFIX, **several(name))
    monkeypatch.setattr(contract, "WORTHWHILE", worthwhile)
    assert_same(searched(name, Toy(), SENTENCES, LONGEST, PREFIX, **several(name)), usual)


@every_search
@pytest.mark.parametrize("worthwhile", [0.0, 0.75])
def test_no_sentence_is_computed_beyond_its_limit(
    name: str, worthwhile: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "WORTHWHILE", worthwhile)
    toy = Toy(end=-5.0)

    def step(tokens_BT: Tensor, state: State) -> tuple[Tensor, State]:
        read[0] += tokens_BT.shape[1]
        for sentence in state.memory["keys"][0].tolist():
            assert read[0] <= LONGEST[sentence]
        return toy.step(tokens_BT, state)

    read = [0]
    limits = Limits(LONGEST, END, (PAD, START))
    decoding.find(name)(step, toy.start(SENTENCES), starts(SENTENCES), limits)
    assert read[0] == max(LONGEST)


@every_search
def test_a_state_is_left_as_it_was(name: str) -> None:
    toy = Toy()
    state, limits = toy.start(SENTENCES), Limits(LONGEST, END, (PAD, START), PREFIX)
    search = decoding.find(name)
    assert search(toy.step, state, starts(SENTENCES), limits) == search(toy.step, state, starts(SENTENCES), limits)


@every_search
def test_the_logits_are_left_as_they_were(name: str) -> None:
    toy = Toy()
    table_KV = toy.table_KV
    toy.table_KV = torch.zeros_like(table_KV)
    kept_B1V = toy.table_KV[:, None]

    def step(tokens_BT: Tensor, state: State) -> tuple[Tensor, State]:
        return kept_B1V[: len(tokens_BT)], toy.step(tokens_BT[:, -1:], state)[1]

    decoding.find(name)(step, toy.start([0, 1]), starts([0, 1]), Limits([4, 3], END, (PAD,), [[], [3]]))
    assert not kept_B1V.any()


@every_search
def test_a_model_that_knows_nothing_still_gives_texts(name: str) -> None:
    toy = Toy(sharpness=0.0)
    for longest, hypotheses in zip(LONGEST, searched(name, toy, SENTENCES, LONGEST), strict=True):
        assert 1 <= len(hypotheses[0].ids) <= longest
        assert hypotheses[0].score == pytest.approx(-len(hypotheses[0].ids) * math.log(7), abs=1e-5)


@every_search
def test_half_precision_logits_are_summed_in_single_precision(name: str) -> None:
    toy = Toy()
    toy.table_KV = toy.table_KV.bfloat16()
    for sentence, hypotheses in enumerate(searched(name, toy, SENTENCES, [12] * 12)):
        assert hypotheses[0].score == pytest.approx(toy.score(sentence, hypotheses[0].ids), abs=1e-5)


@every_search
def test_no_sentences_are_no_work(name: str) -> None:
    toy = Toy()
    assert searched(name, toy, [], []) == []
    assert toy.calls == []


@every_search
def test_start_must_fit_the_limits(name: str) -> None:
    toy = Toy()
    with pytest.raises(ValueError, match=r"start has shape \(2,\), but the limits are those of 1 sentences"):
        decoding.find(name)(toy.step, toy.start([0, 1]), starts([0, 1]), Limits([5], END))


def test_limits_refuse_what_cannot_be_met() -> None:
    with pytest.raises(ValueError, match="sentence 1 may have 0 ids, but needs at least 1"):
        Limits([4, 0], END)
    with pytest.raises(ValueError, match="the prefix of sentence 0 has 4 ids, which leaves no room for the end"):
        Limits([4], END, prefix=[[3, 3, 3, 3]])
    with pytest.raises(ValueError, match="the prefix of sentence 0 holds the end"):
        Limits([4], END, prefix=[[3, END]])
    with pytest.raises(ValueError, match="1 prefixes came for 2 sentences"):
        Limits([4, 4], END, prefix=[[3]])


def test_an_unknown_search_is_named_with_its_nearest() -> None:
    with pytest.raises(ValueError, match="unknown search 'beem'; did you mean beam"):
        decoding.find("beem")
    with pytest.raises(ValueError, match="there are beam, greedy, sample"):
        decoding.find("contract")


def test_the_options_of_a_search_are_its_keywords() -> None:
    assert decoding.options("greedy") == {}
    assert set(decoding.options("beam")) == {"width", "length_penalty", "n_best"}


# Beam search


@pytest.mark.parametrize("length_penalty", [-1.0, 0.0, 0.6, 2.0])
@pytest.mark.parametrize("precision", ["random", "coarse", "constant"])
def test_width_one_equals_greedy(length_penalty: float, precision: str) -> None:
    for seed in range(5):
        toy = Toy(seed=seed, sharpness=0.0 if precision == "constant" else 1.5)
        if precision == "coarse":  # many equal logits
            toy.table_KV = toy.table_KV.round()
        beam = searched("beam", toy, SENTENCES, LONGEST, PREFIX, width=1, length_penalty=length_penalty)
        rows = toy.calls
        toy.calls = []
        greedy = searched("greedy", toy, SENTENCES, LONGEST, PREFIX)
        assert [(one.ids, one.score) for (one,) in beam] == [(one.ids, one.score) for (one,) in greedy]
        assert rows == toy.calls


def test_a_beam_wider_than_the_vocabulary_works() -> None:
    toy = Toy(vocabulary=5)
    for sentence, hypotheses in enumerate(searched("beam", toy, SENTENCES, LONGEST, width=20, n_best=20)):
        texts = [tuple(one.ids) for one in hypotheses]
        assert len(set(texts)) == len(texts)
        # Two ids besides the end: 1 text of one id, 1 + 2 of up to two, and so on.
        assert len(texts) == min(20, 2 ** LONGEST[sentence] - 1)


def test_the_penalised_score_is_the_papers() -> None:
    for hypotheses in searched("beam", Toy(), SENTENCES, LONGEST, length_penalty=0.8, n_best=4):
        for one in hypotheses:
            assert one.penalised == pytest.approx(one.score / ((5 + len(one.ids)) / 6) ** 0.8, rel=1e-12)


def test_an_n_best_list_begins_with_the_shorter_one() -> None:
    many = searched("beam", Toy(), SENTENCES, LONGEST, width=6, n_best=6)
    few = searched("beam", Toy(), SENTENCES, LONGEST, width=6, n_best=2)
    assert_same(few, [hypotheses[:2] for hypotheses in many])


def test_a_beam_stops_as_soon_as_nothing_can_be_overtaken() -> None:
    toy = Toy(end=8.0)
    searched("beam", toy, SENTENCES, [200] * 12, length_penalty=0.0)
    assert len(toy.calls) <= 5


def test_the_first_step_computes_one_hypothesis_a_sentence() -> None:
    toy = Toy(end=-3.0)
    searched("beam", toy, SENTENCES, [12] * 12, width=4)
    assert [rows for rows, _ in toy.calls[:2]] == [12, 48]


def test_a_beam_copies_no_state_while_its_rows_stay_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the state was copied")

    monkeypatch.setattr("regard.decoding.beam.select", never)
    searched("beam", Toy(end=-9.0), [0, 1], [6, 6], width=1)


def test_a_model_that_gives_no_numbers_is_refused() -> None:
    toy = Toy()
    toy.table_KV[:] = math.nan
    with pytest.raises(ValueError, match="no text of sentence 0 has a probability above zero"):
        searched("beam", toy, SENTENCES, LONGEST)
    assert len(toy.calls) <= max(LONGEST)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0}, "width is 0"),
        ({"width": 3, "n_best": 4}, "n_best is 4, but must be from 1 to the width of the beam, 3"),
        ({"n_best": 0}, "n_best is 0"),
        ({"length_penalty": math.nan}, "length_penalty is nan"),
        ({"length_penalty": 1e9}, "length_penalty is 1000000000.0"),
    ],
)
def test_a_beam_refuses_impossible_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        searched("beam", Toy(), [0], [5], **options)


# Sampling: SHOTS sentences that are all the same one, each with its own seed, are SHOTS draws.

SHOTS = 4000
# χ² exceeds these with probability 1e-4, by degrees of freedom.
CHI_SQUARE = {1: 15.14, 2: 18.42, 3: 21.11, 4: 23.51}


def shots(toy: Toy, longest: int, **options: Any) -> list[list[int]]:
    found = searched("sample", toy, [5] * SHOTS, [longest] * SHOTS, **{"seeds": range(SHOTS), **options})
    return [hypotheses[0].ids for hypotheses in found]


def assert_frequencies(drawn: list[int], p_V: Tensor) -> None:
    """Pearson's χ² over the ids of positive probability; an id of probability zero never comes."""
    counts = Counter(drawn)
    possible = [token for token in range(len(p_V)) if p_V[token] > 0]
    assert set(counts) <= set(possible)
    expected = {token: len(drawn) * float(p_V[token]) for token in possible}
    assert min(expected.values()) > 5
    chi_square = sum((counts[token] - expected[token]) ** 2 / expected[token] for token in possible)
    assert chi_square < CHI_SQUARE[len(possible) - 1]


def distribution(toy: Toy, ids: Sequence[int], temperature: float = 1.0) -> Tensor:
    """Return what should be drawn after these ids: tempered, without pad and start."""
    *_, logp_V = toy.walk(5, [*ids, END])
    logp_V[[PAD, START]] = -math.inf
    return (logp_V / temperature).softmax(-1)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_samples_come_as_often_as_the_model_says(temperature: float) -> None:
    toy = Toy(sharpness=0.7)
    texts = shots(toy, 12, temperature=temperature)
    assert_frequencies([ids[0] for ids in texts], distribution(toy, [], temperature))
    second = [ids[1] for ids in texts if ids[0] == 3]
    assert_frequencies(second, distribution(toy, [3], temperature))
    # The numbers of two places are independent: the second place after another first is again as the model says.
    assert_frequencies([ids[1] for ids in texts if ids[0] == 4], distribution(toy, [4], temperature))


def test_many_samples_of_a_sentence_come_as_often_as_the_model_says() -> None:
    toy = Toy(sharpness=0.7)
    (found,) = searched("sample", toy, [5], [3], seeds=[7], n_best=SHOTS)
    assert_frequencies([one.ids[0] for one in found], distribution(toy, []))


@pytest.mark.parametrize("top_k", [1, 2, 4, 100])
def test_top_k_draws_from_the_k_likeliest(top_k: int) -> None:
    toy = Toy(sharpness=0.7)
    p_V = distribution(toy, [], 1.5)
    kept = p_V.argsort(descending=True)[: min(top_k, 5)]
    only_V = torch.zeros_like(p_V).index_copy(0, kept, p_V[kept])
    drawn = [ids[0] for ids in shots(toy, 2, temperature=1.5, top_k=top_k)]
    assert set(drawn) == set(kept.tolist())
    if top_k > 1:
        assert_frequencies(drawn, only_V / only_V.sum())


@pytest.mark.parametrize("top_k", [0, 4])
@pytest.mark.parametrize("kept", [1, 2, 3, 4])
def test_top_p_draws_from_the_fewest_that_reach_p(kept: int, top_k: int) -> None:
    toy = Toy(sharpness=0.7)
    p_V = distribution(toy, [], 1.5)
    order = p_V.argsort(descending=True)
    if top_k:
        p_V = p_V / p_V[order[:top_k]].sum()  # top-p counts what top-k has left
    top_p = float(p_V[order[:kept]].sum()) - 0.01
    only_V = torch.zeros_like(p_V).index_copy(0, order[:kept], p_V[order[:kept]])
    drawn = [ids[0] for ids in shots(toy, 2, temperature=1.5, top_p=top_p, top_k=top_k)]
    assert set(drawn) == set(order[:kept].tolist())
    if kept > 1:
        assert_frequencies(drawn, only_V / only_V.sum())


def test_top_p_finds_the_same_in_a_large_vocabulary_whatever_else_is_in_the_batch() -> None:
    toy = Toy(vocabulary=3000, sharpness=3.0)
    flat = Toy(vocabulary=3000, sharpness=0.0)
    toy.table_KV[500:] = flat.table_KV[500:]  # half of all places hold more than a thousand ids in their 90 %
    together = searched("sample", toy, SENTENCES, LONGEST, top_p=0.9)
    alone = [searched("sample", toy, [n], [LONGEST[n]], top_p=0.9)[0] for n in SENTENCES]
    assert_same(together, alone)


def test_top_p_finds_its_ids_in_a_large_vocabulary() -> None:
    """Ranked by probability, the draw of u is the first whose sum exceeds 0.9·u, give or take one for rounding."""
    p_V = torch.randn(3000, generator=torch.Generator().manual_seed(1)).div(4).softmax(-1)
    ranked = p_V.argsort(descending=True).tolist()
    sums = list(itertools.accumulate(float(p_V[token]) for token in ranked))
    kept = bisect.bisect_left(sums, 0.9) + 1
    assert kept > 2000
    uniform_B = torch.arange(500) / 500
    drawn = draw(p_V.log().expand(500, -1), uniform_B, 1.0, 0, 0.9).tolist()
    for u, token in zip(uniform_B.tolist(), drawn, strict=True):
        assert abs(ranked.index(token) - bisect.bisect_right(sums, u * sums[kept - 1])) <= 1


def test_the_same_seed_draws_the_same_and_another_something_else() -> None:
    first, again, other = (
        searched("sample", Toy(), SENTENCES, [12] * 12, seeds=range(seed, seed + 12)) for seed in (1, 1, 50)
    )
    assert first == again
    assert first != other


def test_the_first_sample_does_not_depend_on_how_many_are_asked() -> None:
    one = searched("sample", Toy(), SENTENCES, LONGEST)
    five = searched("sample", Toy(), SENTENCES, LONGEST, n_best=5)
    for (single,), several in zip(one, five, strict=True):
        assert single.ids in [each.ids for each in several]


@pytest.mark.parametrize("temperature", [0.0, 1e-300, 1e-6])
def test_a_vanishing_temperature_is_greedy_search(temperature: float) -> None:
    cold = searched("sample", Toy(), SENTENCES, LONGEST, PREFIX, temperature=temperature)
    assert cold == searched("greedy", Toy(), SENTENCES, LONGEST, PREFIX)


def test_a_rising_temperature_ends_in_equal_chances() -> None:
    toy = Toy(sharpness=3.0)
    equal_V = torch.tensor([0, 0, 1, 1, 1, 1, 1]) / 5
    assert_frequencies([ids[0] for ids in shots(toy, 2, temperature=1e30)], equal_V)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": -0.1}, "temperature is -0.1"),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"temperature": math.inf}, "temperature is inf"),
        ({"top_k": -1}, "top_k is -1"),
        ({"top_p": 0.0}, "top_p is 0.0, but must be above 0"),
        ({"top_p": 1.01}, "top_p is 1.01"),
        ({"n_best": 0}, "n_best is 0"),
        ({"seeds": [1, 2]}, "2 seeds came for 1 sentences"),
    ],
)
def test_sampling_refuses_impossible_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        searched("sample", Toy(), [0], [5], **options)
