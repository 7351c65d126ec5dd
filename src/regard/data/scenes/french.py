"""French noun phrases: gender and agreement, sizes before and qualities after the noun, elision, du."""

from regard.data.scenes.lexicon import Referent, noun, quality, size
from regard.data.scenes.phrase import GIVEN, Part, adjective

VOWELS = "aâeéèêiîoôuyhœ"
"""Letters before which *le* loses its vowel; every h of the lexicon is mute."""


def phrase(form: str, referent: Referent) -> list[Part]:
    """Return a noun phrase.

    The forms are un, le, du, d'un; qu'il, the pronoun; size and quality, the adjective behind a verb.
    """
    name = noun("fr", referent.noun)
    feminine = name.gender == "f"
    sizes = adjective(size("fr", referent.size)[feminine], "size") if referent.size else []
    qualities = adjective(quality("fr", referent.quality)[feminine], "quality") if referent.quality else []
    if form in ("size", "quality"):
        return sizes if form == "size" else qualities
    if form == "qu'il":
        return [Part("qu'elle" if feminine else "qu'il", ("it",), (GIVEN,))]
    described = [*sizes, Part(name.word, ("noun",)), *qualities]
    if form in ("un", "d'un"):
        article = form + ("e" if feminine else "")
        return [Part(article, (), ("article",) if form == "un" else (GIVEN, "article")), *described]
    assert form in ("le", "du"), form
    de = [Part("de", (GIVEN,))] if form == "du" else []
    first, *rest = described
    if first.text[0] in VOWELS:
        return [*de, Part(f"l'{first.text}", first.means, ("article",)), *rest]
    if feminine:
        return [*de, Part("la", (), ("article",)), *described]
    return [Part("du", (), (GIVEN, "article")) if de else Part("le", (), ("article",)), *described]
