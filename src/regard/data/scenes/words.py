"""Words that know what they mean: sentences as patterns, their text, and the links between two languages.

A pattern is a line of text with marks. `word=left` is a word that means *left* (two words that mean the same are
surely linked), `word~left` one that only helps to say it (a possible link). `{a:un}` is the noun phrase of referent a
in the form that would be *un* with a masculine noun; `{b:du~of}` gives a meaning to the preposition in it;
`{a:le.noun}` leaves the adjectives out. What a noun phrase means is named after its referent: a.noun, a.size,
a.quality, a.article, a.it (a pronoun). Punctuation belongs to its word, as in the text.
"""

import re
from collections import defaultdict
from functools import cache
from typing import NamedTuple

from regard.data.corpus import Links
from regard.data.scenes import english, french, german, italian
from regard.data.scenes.lexicon import Referent
from regard.data.scenes.phrase import GIVEN, Part

PHRASES = {"en": english.phrase, "fr": french.phrase, "it": italian.phrase, "de": german.phrase}

_SLOT = re.compile(r"\{(\w):([^}=~]+)([=~]?)(\w*)\}([.,]*)$")


class Keys(NamedTuple):
    """What a word means, and what it only helps to say."""

    means: tuple[str, ...]
    helps: tuple[str, ...]


class Word(NamedTuple):
    text: str
    keys: Keys


class Slot(NamedTuple):
    """A noun phrase of a pattern, still to be filled."""

    letter: str
    form: str
    given: str
    strong: bool
    punctuation: str


Pattern = tuple[Word | Slot, ...]
Referents = tuple[tuple[str, Referent], ...]
"""The referents of a sentence by the letters that its pattern has for them."""


@cache
def parse(marked: str) -> Pattern:
    """Return the pattern that a marked line describes."""
    return tuple(_slot(token) if token.startswith("{") else _word(token) for token in marked.split())


def spell(language: str, pattern: Pattern, referents: Referents) -> str:
    """Return a sentence as text."""
    known = dict(referents)
    text = " ".join(
        [piece.text if isinstance(piece, Word) else _spelled(language, piece, known[piece.letter]) for piece in pattern]
    )
    return text[0].upper() + text[1:]


def words(language: str, pattern: Pattern, referents: Referents) -> list[Word]:
    """Return a sentence word by word, as spaces separate them."""
    known = dict(referents)
    found: list[Word] = []
    for piece in pattern:
        found.extend(_filled(language, piece, known[piece.letter]) if isinstance(piece, Slot) else [piece])
    return [Word(found[0].text[0].upper() + found[0].text[1:], found[0].keys), *found[1:]]


@cache
def link(source: tuple[Keys, ...], target: tuple[Keys, ...]) -> Links:
    """Return the links of two sentences that say the same, by what their words mean."""
    targets: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for j, keys in enumerate(target):
        for key in keys.means + keys.helps:
            targets[key].append((j, key in keys.means))
    possible, sure = set(), set()
    for i, keys in enumerate(source):
        for key in keys.means + keys.helps:
            for j, means in targets[key]:
                possible.add((i, j))
                if means and key in keys.means:
                    sure.add((i, j))
    return Links(frozenset(sure), frozenset(possible))


def _word(token: str) -> Word:
    bare = token.rstrip(".,")
    text, *marks = re.split(r"([=~])", bare)
    keys = list(zip(marks[::2], marks[1::2], strict=True))
    return Word(text + token[len(bare) :], Keys(*(tuple(key for mark, key in keys if mark == kind) for kind in "=~")))


def _slot(token: str) -> Slot:
    match = _SLOT.match(token)
    assert match, token
    letter, form, mark, given, punctuation = match.groups()
    return Slot(letter, form, given, mark == "=", punctuation)


@cache
def _spelled(language: str, slot: Slot, referent: Referent) -> str:
    return " ".join(word.text for word in _filled(language, slot, referent))


@cache
def _filled(language: str, slot: Slot, referent: Referent) -> tuple[Word, ...]:
    form, _, bare = slot.form.partition(".")
    parts = PHRASES[language](form, Referent(referent.noun) if bare else referent)
    if not any(GIVEN in part.means + part.helps for part in parts):
        parts = [parts[0]._replace(helps=(*parts[0].helps, GIVEN)), *parts[1:]]
    filled = [Word(part.text, _named(slot, part)) for part in parts]
    return (*filled[:-1], Word(filled[-1].text + slot.punctuation, filled[-1].keys))


def _named(slot: Slot, part: Part) -> Keys:
    means = [
        slot.given if key == GIVEN else f"{slot.letter}.{key}" for key in part.means if key != GIVEN or slot.strong
    ]
    helps = [slot.given if key == GIVEN else f"{slot.letter}.{key}" for key in part.helps]
    if GIVEN in part.means and not slot.strong:
        helps.append(slot.given)
    return Keys(tuple(key for key in means if key), tuple(key for key in helps if key))
