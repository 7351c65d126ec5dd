"""What a translator answers does not depend on what is translated beside it, and its scores are the model's own."""

import random
from functools import cache

import pytest
import torch

from regard import decoding
from regard.data.vocabulary import END, PAD, START, Vocabulary
from regard.tasks.translator import Translation, Translator
from tests.small import small

every_search = pytest.mark.parametrize("search", decoding.names())
WORDS = ["ba", "be", "bi", "bo", "bu", "da", "de", "di", "do", "du", "ga", "ge", "gi", "go", "gu"]


@cache
def translator() -> Translator:
    """Return a model that has learned nothing, of a real one's proportions."""
    words = Vocabulary.train([" ".join(WORDS)], "word", 50)
    sizes = {"width": 64, "inner": 128, "heads": 4, "norm": "pre", "positions": "learned", "longest": 64}
    model = small(5, vocabulary=words.size, tied=False, **sizes)
    with torch.no_grad():
        # What is written follows the source, and ends now and then.
        for layer in model.decoder.layers:
            layer.cross.output.weight *= 2
        model.decoder.output.weight[END] *= 1.5
    return Translator(model, words, words)


@cache
def texts() -> list[str]:
    """Return texts of one to twelve words, one of them empty."""
    chance = random.Random(0)
    return ["", *(" ".join(chance.choices(WORDS, k=chance.randint(1, 12))) for _ in range(39))]


@cache
def found(search: str, batch: int, **options: int) -> list[list[Translation]]:
    return list(translator().translations(texts(), search=search, batch=batch, **options))


def ids(translations: list[list[Translation]]) -> list[list[list[list[int]]]]:
    return [[one.ids for one in each] for each in translations]


@every_search
def test_a_text_is_translated_alone_as_in_any_batch(search: str) -> None:
    expected = found(search, 64)
    for batch in (1, 7):
        again = found(search, batch)
        assert ids(again) == ids(expected)
        for (one,), (other,) in zip(again, expected, strict=True):
            # A sum of some thirty float32 numbers below ten.
            assert one.score == pytest.approx(other.score, abs=1e-4)
    for number in (0, 1, 17):
        (alone,) = translator().translations([texts()[number]], search=search, first=number)
        assert ids([alone]) == ids([expected[number]])


def test_texts_that_are_repeated_get_the_same_translation() -> None:
    twice = list(translator().translations([*texts(), *texts()], width=3, batch=10))
    assert ids(twice) == ids(found("beam", 10, width=3)) * 2


def test_a_beam_of_one_equals_greedy_search() -> None:
    beam, greedy = found("beam", 64, width=1), found("greedy", 64)
    assert ids(beam) == ids(greedy)
    assert [one.score for (one,) in beam] == [one.score for (one,) in greedy]
    assert [one.text for (one,) in beam] == [one.text for (one,) in greedy]


def test_texts_differ_and_end_by_themselves_or_at_their_limit() -> None:
    # Otherwise these tests would show little.
    written = [one.ids[0] for (one,) in found("greedy", 64) if one.ids]
    limits = [2 * len(text.split()) + 20 for text in texts() if text]
    assert all(len(ids) <= limit for ids, limit in zip(written, limits, strict=True))
    assert 10 < sum(len(ids) < limit for ids, limit in zip(written, limits, strict=True)) < 30
    assert len({tuple(ids) for ids in written}) > 20


@every_search
def test_a_returned_score_is_the_models_own_score_of_those_ids(search: str) -> None:
    options = {"n_best": 3} if "n_best" in decoding.options(search) else {}
    if search == "beam":
        options["width"] = 5
    sources, targets, scores = [], [], []
    for text, translations in zip(texts(), found(search, 64, **options), strict=True):
        for one in translations:
            if not one.ids:
                assert one.score == 0
                continue
            (written,) = one.ids
            assert written[-1] == END
            assert not {PAD, START, END} & set(written[:-1])
            sources.append(translator().reads.encode([text])[0])
            targets.append(written)
            scores.append(one.score)
    assert len(scores) >= 39
    own = translator().score_ids(sources, targets, batch=16)
    # Sums of some thirty float32 numbers below ten, computed token by token and at once.
    assert own == pytest.approx(scores, abs=1e-4)
    # In any batch.
    assert translator().score_ids(sources, targets, batch=1) == pytest.approx(own, abs=1e-4)


def test_a_text_is_scored_with_its_end() -> None:
    model = translator()
    sources, targets = ["ba be", "du"], ["gi", "ga go gu"]
    expected = model.score_ids(model.reads.encode(sources), [[*each, END] for each in model.writes.encode(targets)])
    assert model.score(sources, targets) == expected
    # By hand: log p(gi | start) + log p(end | start gi).
    source, (gi,) = model.reads.encode(["ba be"])[0], model.writes.encode(["gi"])[0]
    with torch.inference_mode():
        logp = model.model(torch.tensor([source]), None, torch.tensor([[START, gi]])).log_softmax(-1)[0]
    assert expected[0] == pytest.approx(float(logp[0, gi] + logp[1, END]), abs=1e-5)


@every_search
def test_a_prefix_comes_first_and_is_scored(search: str) -> None:
    model = translator()
    forced = model.writes.encode(["bu da"])[0]
    for text, (one,) in zip(texts(), model.translations(texts(), search=search, prefix="bu da"), strict=True):
        if text:
            assert one.ids[0][:2] == forced
            assert one.text.startswith("bu da")
            own = model.score_ids(model.reads.encode([text]), one.ids)
            assert own == pytest.approx([one.score], abs=1e-4)
