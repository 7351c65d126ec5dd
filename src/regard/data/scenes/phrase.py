"""What the grammar of a language returns: the words of a noun phrase and which part of it each one says."""

from typing import NamedTuple

GIVEN = "given"
"""The part that the sentence around a noun phrase gives a meaning to: its preposition, or a verb that fits the noun."""


class Part(NamedTuple):
    """One word of a noun phrase; it says some parts of the phrase, and helps to say others."""

    text: str
    means: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()


def adjective(text: str, part: str) -> list[Part]:
    """Return the words of an adjective; *far away* has two."""
    return [Part(word, (part,)) for word in text.split()]
