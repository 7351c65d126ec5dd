"""Italian noun phrases: gender and agreement, il, lo, l', la and what becomes of them after di, a, da, in and su."""

from regard.data.scenes.lexicon import Referent, noun, quality, size
from regard.data.scenes.phrase import GIVEN, Part, adjective

STEMS = {"del": "de", "dal": "da", "nel": "ne", "sul": "su"}
"""What stands before the article in a contraction; all but *il* double their l."""


def phrase(form: str, referent: Referent) -> list[Part]:
    """Return a noun phrase.

    The forms are un, il, del, dal, nel, sul; size and quality, the adjective behind a verb.
    """
    name = noun("it", referent.noun)
    feminine = name.gender == "f"
    sizes = adjective(size("it", referent.size)[feminine], "size") if referent.size else []
    qualities = adjective(quality("it", referent.quality)[feminine], "quality") if referent.quality else []
    if form in ("size", "quality"):
        return sizes if form == "size" else qualities
    described = [*sizes, Part(name.word, ("noun",)), *qualities]
    first, *rest = described
    vowel = first.text[0] in "aeiou"
    if form == "un":
        if vowel and feminine:
            return [Part(f"un'{first.text}", first.means, ("article",)), *rest]
        article = "una" if feminine else "uno" if _heavy(first.text) else "un"
        return [Part(article, (), ("article",)), *described]
    helps = ("article",) if form == "il" else (GIVEN, "article")
    stem, double = ("", "l") if form == "il" else (STEMS[form], "ll")
    if vowel:
        return [Part(f"{stem}{double}'{first.text}", first.means, helps), *rest]
    if feminine or _heavy(first.text):
        return [Part(f"{stem}{double}{'a' if feminine else 'o'}", (), helps), *described]
    return [Part(form, (), helps), *described]


def _heavy(word: str) -> bool:
    """Say whether a word begins with a sound that takes *lo*: z, or s before a consonant."""
    return word[0] == "z" or (word[0] == "s" and word[1] not in "aeiou")
