"""Beam search against enumeration of every text, and against a plain beam written with lists."""

import random
from collections.abc import Iterator, Sequence

import pytest

from regard.decoding.beam import search
from regard.decoding.contract import Limits
from tests.toys import END, PAD, START, Toy, starts


def penalised(score: float, length: int, alpha: float) -> float:
    return score / float(((5 + length) / 6) ** alpha)


def every_text(toy: Toy, sentence: int, longest: int, prefix: Sequence[int]) -> Iterator[tuple[float, list[int]]]:
    """Yield the score and the ids of everything that may be written, deciding id by id."""
    open_texts: list[list[int]] = [[]]
    while open_texts:
        written = open_texts.pop()
        place = len(written)
        if place < len(prefix):
            possible = [prefix[place]]
        elif place == longest - 1:
            possible = [END]
        else:
            possible = [token for token in range(toy.table_KV.shape[1]) if token not in (PAD, START)]
        for token in possible:
            if token == END:
                yield toy.score(sentence, [*written, END]), [*written, END]
            else:
                open_texts.append([*written, token])


@pytest.mark.parametrize("length_penalty", [-3.0, -1.0, 0.0, 0.6, 1.0, 4.0])
@pytest.mark.parametrize("end", [-2.0, 0.0, 3.0])
@pytest.mark.parametrize("n_best", [1, 2, 7])
def test_a_beam_that_holds_everything_equals_enumeration(length_penalty: float, end: float, n_best: int) -> None:
    chance = random.Random(f"{length_penalty} {end} {n_best}")
    sentences = chance.sample(range(100), 8)
    longest = [chance.randint(1, 5) for _ in sentences]
    prefix = [[chance.choice([3, 4, 5]) for _ in range(chance.randint(0, most - 1) // 2)] for most in longest]
    toy = Toy(vocabulary=6, seed=chance.randint(0, 99), end=end)
    found = search(
        toy.step,
        toy.start(sentences),
        starts(sentences),
        Limits(longest, END, (PAD, START), prefix),
        width=150,  # three ids besides the end: 1 + 3 + 9 + 27 + 81 texts of at most five ids
        length_penalty=length_penalty,
        n_best=n_best,
    )
    for sentence, most, forced, hypotheses in zip(sentences, longest, prefix, found, strict=True):
        texts = sorted(
            (
                (penalised(score, len(ids), length_penalty), ids)
                for score, ids in every_text(toy, sentence, most, forced)
            ),
            reverse=True,
        )[:n_best]
        assert [one.ids for one in hypotheses] == [ids for _, ids in texts]
        # Sums of at most five float32 numbers below 10, divided by at least 0.2.
        assert [one.penalised for one in hypotheses] == pytest.approx([value for value, _ in texts], abs=2e-5)


def plain_beam(
    toy: Toy, sentence: int, longest: int, width: int, length_penalty: float, n_best: int
) -> list[tuple[float, list[int]]]:
    """Beam search with lists, one sentence, and no early finish but that of an empty beam."""
    live: list[tuple[float, list[int]]] = [(0.0, [])]
    finished = []
    for length in range(1, longest + 1):
        candidates = []
        for score, ids in live:
            *_, logp_V = toy.walk(sentence, [*ids, END])
            for token, logp in enumerate(logp_V.tolist()):
                if token not in (PAD, START) and (token == END or length < longest):
                    candidates.append((score + logp, [*ids, token]))
        candidates.sort(reverse=True)
        ended = [(score, ids) for score, ids in candidates[:width] if ids[-1] == END]
        finished += [(penalised(score, length, length_penalty), ids) for score, ids in ended]
        live = [(score, ids) for score, ids in candidates if ids[-1] != END][:width]
        if len(ended) == width:
            break
    return sorted(finished, reverse=True)[:n_best]


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("length_penalty", [-1.0, 0.0, 0.6, 2.0])
def test_a_beam_equals_the_plain_one(width: int, length_penalty: float) -> None:
    chance = random.Random(f"{width} {length_penalty}")
    for seed, end in [(1, -1.0), (2, 0.0), (3, 2.0)]:
        sentences = chance.sample(range(100), 10)
        longest = [chance.randint(1, 10) for _ in sentences]
        toy = Toy(vocabulary=7, seed=seed, end=end)
        n_best = chance.randint(1, width)
        found = search(
            toy.step,
            toy.start(sentences),
            starts(sentences),
            Limits(longest, END, (PAD, START)),
            width=width,
            length_penalty=length_penalty,
            n_best=n_best,
        )
        for sentence, most, hypotheses in zip(sentences, longest, found, strict=True):
            expected = plain_beam(toy, sentence, most, width, length_penalty, n_best)
            assert [one.ids for one in hypotheses] == [ids for _, ids in expected]
            assert [one.penalised for one in hypotheses] == pytest.approx([value for value, _ in expected], abs=2e-5)
