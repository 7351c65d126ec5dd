"""English noun phrases: a, an, the."""

from regard.data.scenes.lexicon import Referent, noun, quality, size
from regard.data.scenes.phrase import Part, adjective


def phrase(form: str, referent: Referent) -> list[Part]:
    """Return a noun phrase; the forms are a, the, and size or quality, the adjective behind a verb."""
    sizes = adjective(size("en", referent.size)[0], "size") if referent.size else []
    qualities = adjective(quality("en", referent.quality)[0], "quality") if referent.quality else []
    if form in ("size", "quality"):
        return sizes if form == "size" else qualities
    assert form in ("a", "the"), form
    described = [*sizes, *qualities, Part(noun("en", referent.noun).word, ("noun",))]
    article = "an" if form == "a" and described[0].text[0] in "aeiou" else form
    return [Part(article, (), ("article",)), *described]
