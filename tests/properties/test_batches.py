"""Batches are a pure function of (seed, step), hold sentences of like length, and miss nobody."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.data.batches import Buckets, Ints, Rows, portions
from regard.data.corpus import Links, Pair
from regard.data.parallel import Parallel
from regard.data.vocabulary import END, PAD, START
from regard.tasks.translation import PairBatch, Translation
from tests.data import shared_data

lengths = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=120)
sizes = st.one_of(st.integers(1, 100), st.sampled_from([200, 1000, 10_000]))
seeds = st.integers(0, 1000)


def buckets(pairs: list[tuple[int, int]], size: int) -> Buckets:
    source, target = np.array(pairs, np.int64).T
    return Buckets(source, target, size)


def epoch(made: Buckets, seed: int, number: int = 0) -> list[list[int]]:
    """Return the rows of the batches of an epoch."""
    count = len(made.cuts()) - 1
    return [batch.tolist() for batch in islice(made.from_step(seed, number * count), count)]


# A pure function of (seed, step).


@given(lengths, sizes, seeds, st.integers(0, 40))
def test_starting_at_a_step_equals_having_come_there(
    pairs: list[tuple[int, int]], size: int, seed: int, step: int
) -> None:
    made = buckets(pairs, size)
    # As many as reach into the epoch after the next.
    walked = list(islice(made.from_step(seed, 0), step + 2 * len(made.cuts())))
    jumped = list(islice(made.from_step(seed, step), 2 * len(made.cuts())))
    assert [batch.tolist() for batch in walked[step:]] == [batch.tolist() for batch in jumped]


@given(lengths, sizes, seeds, st.integers(0, 3))
def test_each_epoch_sees_each_pair_once(pairs: list[tuple[int, int]], size: int, seed: int, number: int) -> None:
    made = buckets(pairs, size)
    seen = Counter(row for batch in epoch(made, seed, number) for row in batch)
    assert seen == Counter(range(len(pairs)))
    assert Counter(row for batch in made.once() for row in batch.tolist()) == seen


@given(lengths, sizes, seeds, st.integers(0, 3))
def test_no_batch_is_above_its_size(pairs: list[tuple[int, int]], size: int, seed: int, number: int) -> None:
    made = buckets(pairs, size)
    for rows in [*epoch(made, seed, number), *(batch.tolist() for batch in made.once())]:
        assert rows
        # Only a pair that is too long by itself may be larger, alone.
        assert len(rows) == 1 or len(rows) * max(pairs[row][1] for row in rows) <= size
        # Sources may take twice the room.
        assert len(rows) == 1 or len(rows) * max(pairs[row][0] // 2 for row in rows) <= size


def test_a_batch_is_filled_up_to_its_size_and_no_further() -> None:
    # Nine pairs of seven target tokens; a source of twenty takes the room of ten.
    assert [len(rows) for rows in buckets([(7, 7)] * 9, 21).once()] == [3, 3, 3]
    assert [len(rows) for rows in buckets([(7, 7)] * 9, 20).once()] == [2, 2, 2, 2, 1]
    assert [len(rows) for rows in buckets([(20, 7)] * 9, 20).once()] == [2, 2, 2, 2, 1]
    assert [len(rows) for rows in buckets([(20, 7)] * 9, 19).once()] == [1] * 9


@given(lengths, sizes, seeds, seeds)
def test_every_epoch_has_batches_of_the_same_shapes(
    pairs: list[tuple[int, int]], size: int, one: int, other: int
) -> None:
    made = buckets(pairs, size)

    def shapes(seed: int, number: int) -> Counter[tuple[tuple[int, int], ...]]:
        return Counter(tuple(sorted(pairs[row] for row in rows)) for rows in epoch(made, seed, number))

    assert shapes(one, 0) == shapes(one, 1) == shapes(other, 2)


MANY = [(1 + row % 7, 1 + row % 5) for row in range(700)]


def test_epochs_and_seeds_come_in_another_order_with_other_company() -> None:
    made = buckets(MANY, 30)
    first = epoch(made, 1)
    for other in (epoch(made, 1, 1), epoch(made, 2), epoch(made, 2, 1)):
        assert other != first
        company = {tuple(sorted(rows)) for rows in first}
        assert sum(tuple(sorted(rows)) in company for rows in other) < len(first) / 10
    assert epoch(made, 1) == first


def test_batches_of_like_length_come_in_no_order_of_length() -> None:
    # Shuffled lengths have a correlation with their place of about 1/√n.
    made = buckets([(1 + row % 50, 1 + row % 50) for row in range(5000)], 200)
    longest = [max(made.target_lengths[rows]) for rows in epoch(made, 1)]
    assert abs(np.corrcoef(longest, np.arange(len(longest)))[0, 1]) < 4 / np.sqrt(len(longest))


def test_a_large_batch_holds_many() -> None:
    # 700 pairs of at most five target tokens, all in one.
    assert [len(rows) for rows in buckets(MANY, 700 * 5).once()] == [700]


# Rows and tables.


@given(st.lists(st.lists(st.integers(0, 30_000), max_size=9), max_size=30))
def test_rows_are_the_texts_they_were_made_of(texts: list[list[int]]) -> None:
    rows = Rows(texts)
    assert [rows[row] for row in range(len(rows))] == texts
    assert rows.lengths.tolist() == [len(text) for text in texts]
    order = np.arange(len(texts))[::-1].copy()
    table = rows.padded(order, -1)
    assert table.shape == (len(texts), max(map(len, texts), default=0))
    assert [[token for token in line if token != -1] for line in table.tolist()] == texts[::-1]


def test_padding_stands_behind() -> None:
    assert Rows([[7], [], [8, 9]]).padded(np.array([2, 0, 1]), 0).tolist() == [[8, 9], [7, 0], [0, 0]]


def test_portions_are_all_there_in_their_order() -> None:
    assert [list(part) for part in portions("abcdefg", 3)] == [list("abc"), list("def"), ["g"]]
    assert list(portions("", 3)) == []


# What a model is given.

WORDS = ["ba", "be", "bi", "bo", "bu", "da", "de", "di", "do", "du"]


@dataclass(frozen=True)
class Words:
    """A corpus of made-up words: a target has the words of its source, and one more."""

    count: int = 300

    def splits(self) -> list[str]:
        return ["train", "val"]

    def pairs(self, split: str) -> list[Pair]:
        chance = np.random.default_rng(len(split))
        texts = [" ".join(chance.choice(WORDS, chance.integers(1, 12))) for _ in range(self.count)]
        return [Pair(text, f"{text} end") for text in texts]

    def describe(self) -> dict[str, object]:
        return {}

    def measures(self, split: str, outputs: list[str]) -> dict[str, float]:
        return {}

    def alignments(self, split: str) -> list[Links] | None:
        return None


def prepared() -> Translation:
    task = Translation(Words(), vocabulary=20, kind="word")
    task.prepare()
    return task


def test_targets_are_fed_one_place_behind_what_is_wanted() -> None:
    task = prepared()
    reads, writes = task.known
    read: Counter[Pair] = Counter()
    for batch in task.once("val", size=60):
        assert batch.target_BT[:, 0].tolist() == [START] * len(batch.target_BT)
        lengths = batch.lengths_B if batch.lengths_B is not None else [batch.source_BS.shape[1]] * len(batch.source_BS)
        for source, length, fed, wanted, counted in zip(
            batch.source_BS.tolist(), lengths, batch.target_BT, batch.labels_BT, batch.counted_BT, strict=True
        ):
            ids = wanted[counted].tolist()
            assert ids[-1] == END
            assert fed[counted].tolist() == [START, *ids[:-1]]
            # What does not count is padding, and stands behind.
            assert set(wanted[~counted].tolist()) <= {PAD}
            assert counted.tolist() == sorted(counted.tolist(), reverse=True)
            assert set(source[int(length) :]) <= {PAD}
            read[Pair(reads.decode([source[: int(length)]])[0], writes.decode([ids])[0])] += 1
    assert read == Counter(Words().pairs("val"))


def test_lengths_are_left_out_where_no_source_is_padded() -> None:
    for batch in prepared().once("val", size=60):
        assert (batch.lengths_B is None) == bool((batch.source_BS != PAD).all())


def test_counts_are_the_places_that_count() -> None:
    task = prepared()
    batches = list(task.once("val", size=60))
    reads, _ = task.known
    tokens = sum(len(ids) + 1 for ids in reads.encode([pair.target for pair in Words().pairs("val")]))
    assert task.counts(batches) == {"loss": tokens, "nll": tokens}


def same(one: PairBatch, other: PairBatch) -> bool:
    return one.tensors().keys() == other.tensors().keys() and all(
        torch.equal(x, other.tensors()[name]) for name, x in one.tensors().items()
    )


def test_training_batches_are_a_pure_function_of_seed_and_step() -> None:
    walked = list(islice(prepared().batches("train", seed=3, step=0, size=100), 120))
    # Another process, beginning in another place.
    for step in (0, 1, 31, 32, 33, 64, 100):
        jumped = next(prepared().batches("train", seed=3, step=step, size=100))
        assert same(jumped, walked[step])
    assert not same(next(prepared().batches("train", seed=4, step=0, size=100)), walked[0])


def test_validation_comes_in_the_same_order_each_time() -> None:
    first, second = (list(prepared().once("val", size=100)) for _ in range(2))
    assert len(first) == len(second)
    assert all(same(one, other) for one, other in zip(first, second, strict=True))


def test_pairs_that_are_too_long_are_left_out_of_the_loss() -> None:
    task = Translation(Words(), vocabulary=20, kind="word", longest=8)
    task.prepare()
    reads, _ = task.known
    fits = [len(reads.encode([pair.target])[0]) < 8 for pair in Words().pairs("train")]
    assert len(task.rows("train").source) == sum(fits) < 300
    assert task.rows("train").left_out == 300 - sum(fits)
    assert len(task.rows("val").source) < len(task.pairs("val")) == 300  # what is translated is not left out


# Multi30k: under a tenth of the positions is padding, and no batch is above its size.


@pytest.fixture(scope="module", params=["de", pytest.param("fr", marks=pytest.mark.slow)])
def multi30k(request: pytest.FixtureRequest) -> Translation:
    task = Translation(Parallel(str(shared_data("multi30k")), "en", request.param), vocabulary=6000)
    task.prepare()
    return task


@pytest.mark.parametrize("size", [1024, 4096])
def test_less_than_a_tenth_of_multi30k_is_padding(multi30k: Translation, size: int) -> None:
    rows = multi30k.rows("train")
    made = Buckets(rows.source.lengths, rows.target.lengths + 1, size)
    positions = there = 0
    seen: list[Ints] = []
    for chosen in islice(made.from_step(1, 0), len(made.cuts()) - 1):
        source, target = made.source_lengths[chosen], made.target_lengths[chosen]
        assert len(chosen) * target.max() <= size
        positions += len(chosen) * int(source.max() + target.max())
        there += int(source.sum() + target.sum())
        seen.append(chosen)
    assert sorted(np.concatenate(seen).tolist()) == list(range(29_000))
    assert 1 - there / positions < 0.10
