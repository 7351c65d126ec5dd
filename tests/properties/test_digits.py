"""What holds of digits to copy, to reverse and to sort."""

from dataclasses import replace

import pytest

from regard.data.corpus import Pair
from regard.data.digits import Digits, Order, home

ORDERS: tuple[Order, ...] = ("copy", "reverse", "sort")


def test_the_target_is_the_source_in_the_order_asked_for() -> None:
    pair = {order: Digits(order, train=50).pairs("train")[7] for order in ORDERS}
    digits = pair["copy"].source.split()
    assert len(digits) > 1
    assert pair["copy"] == Pair(" ".join(digits), " ".join(digits))
    assert pair["reverse"] == Pair(" ".join(digits), " ".join(reversed(digits)))
    assert pair["sort"] == Pair(" ".join(digits), " ".join(sorted(digits)))


@pytest.mark.parametrize("order", ORDERS)
def test_links_say_where_each_digit_comes_from(order: Order) -> None:
    corpus = Digits(order, test=200)
    for pair, links in zip(corpus.pairs("test"), corpus.alignments("test"), strict=True):
        source, target = pair.source.split(), pair.target.split()
        assert {j for _, j in links.sure} == {i for i, _ in links.sure} == set(range(len(source)))
        assert all(source[i] == target[j] for i, j in links.sure)
        assert links.sure == links.possible


@pytest.mark.parametrize("seed", [1, 2])
def test_a_thousand_distinct_test_sequences_of_six_to_sixteen_digits_are_unseen(seed: int) -> None:
    corpus = Digits(seed=seed, train=20_000)
    train, test = ([pair.source for pair in corpus.pairs(split)] for split in ("train", "test"))
    lengths = [len(source.split()) for source in test]
    assert len(set(test)) == len(test) == 1000
    assert set(lengths) == set(range(6, 17))
    assert {len(source.split()) for source in train} == set(range(1, 17))
    assert not set(test) & set(train)
    assert not {pair.source for pair in corpus.pairs("val")} & {*train, *test}


def test_training_never_shows_a_held_out_sequence_however_long_it_runs() -> None:
    """Where there are only a thousand sequences, training sees all of its own and none of the others."""
    corpus = Digits(longest=3, train=30_000, val=50, test=100)
    train, val, test = ({pair.source.replace(" ", "") for pair in corpus.pairs(split)} for split in corpus.splits())
    assert {home(digits) for digits in test} == {"test"}
    assert {home(digits) for digits in val} == {"val"}
    assert len(train) == 10 + 100 + sum(home(f"{number:03}") == "train" for number in range(1000))
    assert not train & (val | test)


@pytest.mark.parametrize(("shortest", "longest", "lengths"), [(1, 4, {4}), (8, 9, {8, 9}), (1, 6, {6}), (3, 3, {3})])
def test_lengths_of_test_are_those_of_training_where_there_are_enough(
    shortest: int, longest: int, lengths: set[int]
) -> None:
    corpus = Digits(longest=longest, shortest=shortest, train=100, test=100)
    assert {len(pair.source.split()) for pair in corpus.pairs("test")} == lengths
    assert {len(pair.source.split()) for pair in corpus.pairs("train")} == set(range(shortest, longest + 1))


def test_long_sequences_use_every_digit_everywhere() -> None:
    sources = [pair.source.split() for pair in Digits(longest=300, shortest=300, train=200).pairs("train")]
    assert all({digits[place] for digits in sources} == set("0123456789") for place in (0, 1, 150, 299))


def test_everything_follows_from_the_seed() -> None:
    corpus = Digits(train=100)
    assert corpus.pairs("train") == replace(corpus, train=200).pairs("train")[:100]
    assert corpus.pairs("train") != replace(corpus, seed=2).pairs("train")
    assert corpus.measures("test", []) == {}
    assert corpus.describe()["pairs"] == {"train": 100, "val": 500, "test": 1000}


def test_a_corpus_of_digits_says_what_is_wrong_with_its_description() -> None:
    with pytest.raises(ValueError, match="order is 'shuffle'"):
        Digits("shuffle")
    with pytest.raises(ValueError, match="longest is 2"):
        Digits(longest=2)
    with pytest.raises(ValueError, match="longest is 1001"):
        Digits(longest=1001)
    with pytest.raises(ValueError, match="shortest is 9"):
        Digits(shortest=9, longest=8)
    with pytest.raises(ValueError, match="-5"):
        Digits(test=-5)
    with pytest.raises(ValueError, match="no split 'dev'"):
        Digits().pairs("dev")
