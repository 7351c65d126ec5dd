"""Texts as ids and back: subwords, words or characters, through the `tokenizers` library.

Every vocabulary begins with <pad>, <start>, <end>, <unknown>. `bpe` and `unigram` work on bytes, so that nothing is
ever unknown: BPE joins the most frequent pair again and again (Sennrich et al., 2016), unigram keeps the pieces that
make the texts most likely (Kudo, 2018). `word` and `character` know what they have seen.

A text is put into Unicode normal form C and gets one space in front, so that a word is the same token at the start of a
sentence and inside it; decoding takes that space away again. Spaces stay with the word that follows.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

PAD, START, END, UNKNOWN = 0, 1, 2, 3
SPECIALS = ["<pad>", "<start>", "<end>", "<unknown>"]

Kind = Literal["bpe", "unigram", "word", "character"]

# No piece crosses these borders: words, numbers, runs of one sign, white space. Elided words keep their apostrophe
# (l'|homme, dell'|uomo); English endings take it along (don|'t). A special's name falls apart into sign, word, sign,
# so that no piece of ordinary text is ever "<pad>".
WORDS = (
    r" ?\p{L}[\p{L}\p{M}]*(?:['’](?!(?i:s|t|d|m|ll|re|ve)(?!\p{L}))(?=\p{L}))?"
    r"|['’](?i:s|t|d|m|ll|re|ve)(?!\p{L})"
    r"| ?\p{N}+"
    r"| ?([^\s\p{L}\p{N}])\1*"
    r"|\s+(?!\S)|\s+"
)
CHARACTERS = r"[\s\S]"


class Vocabulary:
    """A tokenizer of the `tokenizers` library, with the four specials in front."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        # "<pad>" in somebody's text is five characters. The file format cannot say so.
        tokenizer.encode_special_tokens = True
        decoder = json.loads(tokenizer.to_str())["decoder"] or {}
        steps = {step["type"] for step in decoder.get("decoders", [])}
        self.bytewise, self.spaced = "ByteLevel" in steps, "Strip" in steps

    @classmethod
    def train(cls, texts: Iterable[str], kind: Kind = "bpe", size: int = 8000) -> Self:
        """Return a vocabulary of at most `size` tokens, the specials among them; few texts may give fewer."""
        bytewise = kind in ("bpe", "unigram")
        least = len(SPECIALS) + (256 if bytewise else 1)
        if size < least:
            every = " and one token for every byte" if bytewise else " and one token"
            raise ValueError(
                f"a {kind} vocabulary of size {size} is too small: the four special tokens{every} need {least}"
            )
        texts = [normal(text) for text in texts]
        if not any(texts):
            raise ValueError("there is no text to learn a vocabulary from")
        model, trainer = learner(kind, size)
        tokenizer = Tokenizer(model)
        spaces = [] if kind == "character" else [normalizers.Prepend(" ")]
        tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), *spaces])
        split = pre_tokenizers.Split(Regex(CHARACTERS if kind == "character" else WORDS), "isolated")
        levels = [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)] if bytewise else []
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, *levels])
        joined = decoders.ByteLevel() if bytewise else decoders.Fuse()
        strips = [] if kind == "character" else [decoders.Strip(" ", 1, 0)]
        tokenizer.decoder = decoders.Sequence([joined, *strips])
        tokenizer.train_from_iterator(texts, trainer)
        if kind == "unigram":
            tokenizer.model = settled(tokenizer, size)
        return cls(tokenizer)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Return the vocabulary that was saved in a file."""
        text = Path(path).read_bytes()
        try:
            tokenizer = Tokenizer.from_str(text.decode())
        except Exception as reason:  # the library raises nothing more precise
            raise ValueError(f"{path} is not a tokenizer.json of the tokenizers library ({reason})") from None
        first = [tokenizer.id_to_token(i) for i in range(len(SPECIALS))]
        if first != SPECIALS:
            raise ValueError(f"{path} begins with {first}, but a vocabulary begins with {SPECIALS}")
        return cls(tokenizer)

    def save(self, path: str | Path) -> None:
        """Write tokenizer.json, which `Tokenizer.from_file` of the tokenizers library opens."""
        Path(path).write_text(self.tokenizer.to_str(pretty=True), encoding="utf-8")

    @property
    def size(self) -> int:
        return self.tokenizer.get_vocab_size()

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text, without start and end."""
        try:
            encodings = self.tokenizer.encode_batch_fast([normal(text) for text in texts], add_special_tokens=False)
        except TypeError:  # what the library says to a lone surrogate
            raise ValueError("a text holds one half of a surrogate pair, which is no character") from None
        return [encoding.ids for encoding in encodings]

    def decode(self, ids: Sequence[Sequence[int]]) -> list[str]:
        """Return the text of each list of ids; specials say nothing in it."""
        return self.tokenizer.decode_batch([list(row) for row in ids], skip_special_tokens=True)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return a label for each id: its text without the space in front; what cannot be seen is spelt out."""
        return [SPECIALS[i] if i < len(SPECIALS) else label(self.content(i)) for i in ids]

    def words(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """Return the tokens [start, end) of each word, words being what white space separates.

        They are the words of `decode(ids).split()`, except that an unknown word counts as a word too.
        """
        contents = [self.content(i) for i in ids]
        owners = [token for token, content in enumerate(contents) for _ in content]
        spans, place = [], 0
        # A broken character is one stand-in for each byte, so that lengths in bytes are kept.
        text = b"".join(contents).decode("utf-8", "surrogateescape")
        for word in re.findall(r"\s+|\S+", text):
            end = place + len(word.encode("utf-8", "surrogateescape"))
            if not word.isspace():
                spans.append((owners[place], owners[end - 1] + 1))
            place = end
        return spans

    def content(self, token: int) -> bytes:
        """Return the bytes that a token stands for; specials stand for none, except the unknown."""
        if token == UNKNOWN:
            # Most unknown words have a space in front, which nobody recorded.
            return (" �" if self.spaced else "�").encode()
        text = self.tokenizer.id_to_token(token)
        if token < len(SPECIALS) or text is None:
            return b""
        return bytes(BYTES[sign] for sign in text) if self.bytewise else text.encode()


def learner(kind: Kind, size: int) -> tuple[Any, Any]:
    """Return an empty model of a kind, and the trainer that fills it."""
    common: dict[str, Any] = {"vocab_size": size, "special_tokens": SPECIALS, "show_progress": False}
    alphabet = sorted(BYTES)
    match kind:
        case "bpe":
            # A pair that occurs once teaches nothing about other texts.
            return models.BPE(), trainers.BpeTrainer(initial_alphabet=alphabet, min_frequency=2, **common)
        case "unigram":
            return models.Unigram(), trainers.UnigramTrainer(
                initial_alphabet=alphabet, unk_token=SPECIALS[UNKNOWN], **common
            )
        case "word" | "character":
            return models.WordLevel(unk_token=SPECIALS[UNKNOWN]), trainers.WordLevelTrainer(**common)
        case _:
            raise ValueError(f"unknown kind of vocabulary {kind!r}; there are bpe, unigram, word, character")


def settled(tokenizer: Tokenizer, size: int) -> models.Unigram:
    """Return the unigram model with scores and order that depend on the texts alone.

    The library visits words in random order: the last digits of the scores differ each time, and the bytes that never
    occurred share out the lowest scores at random. So round, far above that noise, and give those bytes one score.
    It also overshoots sizes that leave no room beside the bytes.
    """
    pieces = [(piece, score) for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"][len(SPECIALS) :]]
    lowest = min(score for _, score in pieces)
    spread = 0.0001 * 256  # the steps between those bytes
    scores = {piece: lowest if len(piece) == 1 and score <= lowest + spread else score for piece, score in pieces}
    ordered = sorted(
        ((piece, round(score, 2)) for piece, score in scores.items()), key=lambda item: (-item[1], item[0])
    )
    longer = [piece for piece, _ in ordered if len(piece) > 1]
    dropped = set(longer[size - len(SPECIALS) - len(BYTES) :])
    specials = [(special, 0.0) for special in SPECIALS]
    return models.Unigram([*specials, *(item for item in ordered if item[0] not in dropped)], unk_id=UNKNOWN)


def normal(text: str) -> str:
    # The library's own tables may be of another Unicode version than Python's: ours decide, and its find nothing to do.
    return unicodedata.normalize("NFC", text)


def byte_signs() -> dict[str, int]:
    """Return the visible sign that byte-level vocabularies write for each byte: itself, or one from U+0100 on."""
    visible = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {chr(byte): byte for byte in visible} | {chr(256 + i): byte for i, byte in enumerate(hidden)}


BYTES = byte_signs()


def label(content: bytes) -> str:
    text = content.decode("utf-8", "backslashreplace")
    if len(text) > 1:
        text = text.removeprefix(" ")
    if text and unicodedata.combining(text[0]):
        text = "◌" + text  # a mark needs something to stand on
    return "".join(sign if sign.isprintable() and sign != " " else spelt(sign) for sign in text)


def spelt(sign: str) -> str:
    # Unicode has a picture for each control character and for the space.
    return chr(0x2400 + ord(sign)) if ord(sign) <= 0x20 else sign.encode("unicode_escape").decode()
