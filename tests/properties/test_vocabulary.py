"""What holds of every vocabulary, whatever the text."""

import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from regard.data.vocabulary import SPECIALS, UNKNOWN, Kind, Vocabulary

TEXTS = [
    "A man in an orange hat starring at something.",
    "L'homme n'a pas vu l'étoile ; il était déjà 22 h 30 !",
    "Ein Hund läuft über das saftig-grüne Gras, und die Hunde laufen mit.",
    "La donna dell'uomo non c'era più: «dov'è andata?» — 1,000.50 €",
    "I don't know what the men's dogs don't like.",
    "男が帽子をかぶっている。 Мужчина в шляпе. رجل يرتدي قبعة",
] * 5
BYTEWISE: list[Kind] = ["bpe", "unigram"]
KINDS: list[Kind] = ["bpe", "unigram", "word", "character"]
TRAINED = {kind: Vocabulary.train(TEXTS, kind, 320) for kind in KINDS}

# Arbitrary Unicode, and arbitrary mixtures of what is known to go wrong.
HARD = [
    "<pad>",
    "<end>",
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\u2581",
    "\u00a0",
    "\u3000",
    "\u2028",
    "\x00",
    "\x85",
    "\ufeff",
]
HARD += [
    "e\u0301",
    "\u0301",
    "\u1100\u1161",
    "👩‍👩‍👧",
    "❤\ufe0f",
    "🇫🇷",
    "l'",
    "don't",
    "’s",
    "!!",
    "12",
    "\U00011935\U00011930",
    "man",
]
ANY_TEXT = st.text() | st.lists(st.sampled_from(HARD) | st.text(max_size=3)).map("".join)


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("kind", BYTEWISE)
@given(text=ANY_TEXT)
def test_any_text_comes_back_as_written_after_nfc(kind: Kind, text: str) -> None:
    vocabulary = TRAINED[kind]
    ids = vocabulary.encode([text])
    assert vocabulary.decode(ids) == [nfc(text)]
    assert all(i >= len(SPECIALS) for i in ids[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [*TEXTS[:6], " a  man ", "\ta\n"])
def test_known_text_comes_back_whatever_the_kind(kind: Kind, text: str) -> None:
    vocabulary = Vocabulary.train([*TEXTS, " a  man ", "\ta\n"], kind, 1000)
    assert vocabulary.decode(vocabulary.encode([text])) == [nfc(text)]


@pytest.mark.parametrize("kind", KINDS)
@given(text=ANY_TEXT)
def test_no_text_contains_a_special_but_the_unknown(kind: Kind, text: str) -> None:
    assert not {0, 1, 2} & set(TRAINED[kind].encode([text])[0])


@pytest.mark.parametrize("kind", KINDS)
def test_specials_come_first_and_say_nothing(kind: Kind) -> None:
    vocabulary = TRAINED[kind]
    assert vocabulary.pieces([0, 1, 2, 3]) == ["<pad>", "<start>", "<end>", "<unknown>"]
    ids = vocabulary.encode(["man hat"])[0]
    assert vocabulary.decode([[1, *ids, 2, 0, 0], []]) == ["man hat", ""]


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_vocabulary_reads_the_same(kind: Kind, tmp_path: Path) -> None:
    vocabulary, path = TRAINED[kind], tmp_path / "tokenizer.json"
    vocabulary.save(path)
    texts = ["<pad> a man<end>", "", "l'étoile \u2581 ☃", *TEXTS]
    again = Vocabulary.read(path)
    assert again.encode(texts) == vocabulary.encode(texts)
    assert again.size == vocabulary.size == Tokenizer.from_file(str(path)).get_vocab_size()
    assert [again.pieces(row) for row in again.encode(texts)] == [vocabulary.pieces(row) for row in again.encode(texts)]
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_texts_give_the_same_file(kind: Kind, tmp_path: Path) -> None:
    # Many ties: every word occurs equally often, and most bytes never.
    texts = [f"{a}{b}{c} {c}{b}" for a in "abcd" for b in "aeiou" for c in "lmnr"] + TEXTS
    for name in ("first", "second", "third"):
        Vocabulary.train(texts, kind, 400).save(tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes() == (tmp_path / "third").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_the_size_counts_everything_and_is_never_exceeded(kind: Kind) -> None:
    for size in (260, 300, 10_000):
        vocabulary = Vocabulary.train(TEXTS, kind, size)
        assert vocabulary.size <= size
        assert vocabulary.size == 1 + max(vocabulary.tokenizer.get_vocab().values())
    assert Vocabulary.train(TEXTS, "bpe", 300).size == 300
    assert Vocabulary.train(TEXTS, "unigram", 300).size == 300


@pytest.mark.parametrize("kind", ["bpe", "unigram", "word"])
@given(word=st.sampled_from(["A", "man", "hat", "l'étoile", "läuft", "22", "Мужчина", "男が"]))
def test_a_word_has_the_same_tokens_at_the_start_and_inside(kind: Kind, word: str) -> None:
    alone, between = TRAINED[kind].encode([word, f"{word} was {word}"])
    assert between[: len(alone)] == between[-len(alone) :] == alone


def test_elided_words_keep_their_apostrophe_and_english_endings_take_it_along() -> None:
    texts = ["l'homme dell'uomo don't men's 'so' 3,50 (a) ..."]
    vocabulary = Vocabulary.train(texts, "word", 100)
    expected = "l'|homme|dell'|uomo|don|'t|men|'s|'|so|'|3|,|50|(|a|)|..."
    assert "|".join(vocabulary.pieces(vocabulary.encode(texts)[0])) == expected


def test_a_character_vocabulary_has_one_token_a_character() -> None:
    vocabulary = TRAINED["character"]
    assert vocabulary.pieces(vocabulary.encode(["l'e\u0301t ☃"])[0]) == ["l", "'", "é", "t", "␠", "<unknown>"]


def test_word_vocabularies_say_unknown_and_count_it_as_a_word() -> None:
    vocabulary = TRAINED["word"]
    ids = vocabulary.encode(["A zebra likes men's hat."])[0]
    assert ids.count(UNKNOWN) == 2
    assert vocabulary.words(ids) == [(0, 1), (1, 2), (2, 3), (3, 5), (5, 7)]


@pytest.mark.parametrize("kind", BYTEWISE)
@given(text=ANY_TEXT)
def test_words_are_what_white_space_separates(kind: Kind, text: str) -> None:
    vocabulary = TRAINED[kind]
    ids = vocabulary.encode([text])[0]
    spans = vocabulary.words(ids)
    assert [vocabulary.decode([ids[start:end]])[0].strip() for start, end in spans] == nfc(text).split()
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


@given(ids=st.lists(st.integers(0, TRAINED["bpe"].size - 1)))
def test_words_of_any_ids_are_the_words_of_their_text(ids: list[int]) -> None:
    vocabulary = TRAINED["bpe"]
    ids = [i for i in ids if i != UNKNOWN]
    assert len(vocabulary.words(ids)) == len(vocabulary.decode([ids])[0].split())


@pytest.mark.parametrize("kind", KINDS)
@given(text=ANY_TEXT)
def test_every_piece_has_a_visible_label(kind: Kind, text: str) -> None:
    vocabulary = TRAINED[kind]
    for label in vocabulary.pieces(vocabulary.encode([text])[0]):
        assert label.isprintable()
        assert label.strip() == label != ""


def test_half_a_character_is_labelled_by_its_bytes() -> None:
    vocabulary = Vocabulary.train(["a"], "bpe", 300)
    assert vocabulary.pieces(vocabulary.encode(["☃"])[0]) == ["␠", "\\xe2", "\\x98", "\\x83"]


def test_what_cannot_be_trained_or_read_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"size 259 is too small: .* need 260"):
        Vocabulary.train(TEXTS, "bpe", 259)
    with pytest.raises(ValueError, match="no text"):
        Vocabulary.train(["", ""], "unigram")
    with pytest.raises(ValueError, match="unknown kind of vocabulary 'letters'"):
        Vocabulary.train(TEXTS, "letters")
    with pytest.raises(ValueError, match="half of a surrogate pair"):
        TRAINED["bpe"].encode(["fine", "\ud83d"])
    path = tmp_path / "tokenizer.json"
    for content in (b"{", b"\xff\xfe", b""):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"is not a tokenizer\.json"):
            Vocabulary.read(path)
    TRAINED["word"].save(path)
    path.write_text(path.read_text().replace("<start>", "[CLS]"))
    with pytest.raises(ValueError, match="a vocabulary begins with"):
        Vocabulary.read(path)
