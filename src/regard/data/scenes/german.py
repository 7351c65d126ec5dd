"""German noun phrases: three genders, four cases, adjectives that end as their article leaves room for."""

from regard.data.scenes.lexicon import Referent, noun, quality, size
from regard.data.scenes.phrase import GIVEN, Part

ARTICLES = {
    "der": {"m": "der", "f": "die", "n": "das"},
    "den": {"m": "den", "f": "die", "n": "das"},
    "dem": {"m": "dem", "f": "der", "n": "dem"},
    "des": {"m": "des", "f": "der", "n": "des"},
    "ein": {"m": "ein", "f": "eine", "n": "ein"},
    "einen": {"m": "einen", "f": "eine", "n": "ein"},
    "einem": {"m": "einem", "f": "einer", "n": "einem"},
}
"""Every article by its masculine form: nominative, accusative, dative, genitive."""

ENDINGS = {
    "der": {"m": "e", "f": "e", "n": "e"},
    "den": {"m": "en", "f": "e", "n": "e"},
    "dem": {"m": "en", "f": "en", "n": "en"},
    "des": {"m": "en", "f": "en", "n": "en"},
    "ein": {"m": "er", "f": "e", "n": "es"},
    "einen": {"m": "en", "f": "e", "n": "es"},
    "einem": {"m": "en", "f": "en", "n": "en"},
}
"""How an adjective ends after each article."""

CONTRACTIONS = {"im": ("in", "dem"), "zum": ("zu", "dem")}
PRONOUNS = {"m": "er", "f": "sie", "n": "es"}
INVARIABLE = ("rosa",)
STANDING = ("box", "house", "tree", "car", "flower", "clock", "ladder", "boot")
"""What stands; everything else lies."""


def phrase(form: str, referent: Referent) -> list[Part]:
    """Return a noun phrase.

    The forms are the articles above, im and zum; er, the pronoun; dieser, the relative pronoun; liegt, the verb that
    says how a thing is placed; size and quality, the adjective behind a verb.
    """
    name = noun("de", referent.noun)
    words = [("size", size("de", referent.size)[0])] if referent.size else []
    words += [("quality", quality("de", referent.quality)[0])] if referent.quality else []
    if form in ("size", "quality"):
        return [Part(word, (part,)) for part, text in words if part == form for word in text.split()]
    if form == "er":
        return [Part(PRONOUNS[name.gender], ("it",))]
    if form == "dieser":
        return [Part(ARTICLES["der"][name.gender], (GIVEN,))]
    if form == "liegt":
        return [Part("steht" if referent.noun in STANDING else "liegt", (GIVEN,))]
    preposition, case = CONTRACTIONS.get(form, ("", form))
    article = [Part(ARTICLES[case][name.gender], (), ("article",))]
    if preposition == "zu" and name.gender == "f":
        article = [Part("zur", (), (GIVEN, "article"))]
    elif preposition and name.gender != "f":
        article = [Part(form, (), (GIVEN, "article"))]
    elif preposition:
        article = [Part(preposition, (GIVEN,)), *article]
    described = [Part(_declined(text, ENDINGS[case][name.gender]), (part,)) for part, text in words]
    inflected = {"des": name.genitive, "dem": name.dative, "einem": name.dative}.get(case, name.word)
    return [*article, *described, Part(inflected, ("noun",))]


def _declined(adjective: str, ending: str) -> str:
    return adjective if adjective in INVARIABLE else adjective.removesuffix("e") + ending
