"""Stories with an ambiguous English noun, which one other word decides.

"The tired man reached the bank after crossing the river" (*rive*, *riva*, *Ufer*) "… the street" (*banque*, *banca*,
*Bank*). The other languages have a word for each sense; apart from that the content is the same in all of them, so each
language follows from each.
"""

from functools import cache
from itertools import product
from typing import NamedTuple

from regard.data.draw import Draw
from regard.data.scenes.held_out import Triple, homes
from regard.data.scenes.lexicon import Referent, verb
from regard.data.scenes.opening import begin, draw_opening
from regard.data.scenes.words import Referents

PERSONS = ("man", "woman", "boy", "girl", "king", "queen")
MOODS = ("tired", "hungry", "curious", "rich", "happy", "ill")

SENSES = {
    "bank": {"river": ("river", "stream", "lake"), "money": ("street", "square", "avenue")},
    "bat": {"animal": ("cave", "barn", "forest"), "sport": ("stadium", "gym", "locker")},
    "seal": {"animal": ("island", "rock", "ice"), "stamp": ("letter", "envelope", "contract")},
    "match": {"fire": ("kitchen", "drawer", "fireplace"), "sport": ("stadium", "gym", "park")},
    "pipe": {"smoke": ("ashtray", "pocket", "jacket"), "water": ("cellar", "wall", "ceiling")},
    "spring": {"coil": ("mattress", "clock", "machine"), "water": ("forest", "valley", "desert")},
    "trunk": {
        "animal": ("elephant", "mammoth", "tapir"),
        "tree": ("tree", "oak", "fir"),
        "car": ("car", "taxi", "limousine"),
    },
    "date": {"fruit": ("ate", "tasted", "peeled"), "day": ("forgot", "noted", "changed")},
}
"""English nouns with several senses, and the words that decide between them."""

PLOTS = {
    "bank": "reach",
    "bat": "in",
    "match": "in",
    "pipe": "in",
    "spring": "in",
    "seal": "on",
    "trunk": "of",
    "date": "do",
}
"""Which sentence a noun stands in."""

LINES = {
    "en": {
        "reach": "{p:the} reached=reach {n:the} after=after crossing=cross {d:the}",
        "reach first": "after=after crossing=cross {d:the}, {p:the} reached=reach {n:the}",
        "in": "{p:the} saw=see {n:a} in=in {d:the}",
        "in first": "in=in {d:the}, {p:the} saw=see {n:a}",
        "on": "{p:the} saw=see {n:a} on=on {d:the}",
        "on first": "on=on {d:the}, {p:the} saw=see {n:a}",
        "of": "{p:the} touched=touch {n:the} of~of {d:the}",
        "do": "{p:the} DID=d.noun {n:the}",
    },
    "fr": {
        "reach": "{p:le} a~reach atteint=reach {n:le} après=after avoir~cross traversé=cross {d:le}",
        "reach first": "après=after avoir~cross traversé=cross {d:le}, {p:le} a~reach atteint=reach {n:le}",
        "in": "{p:le} a~see vu=see {n:un} dans=in {d:le}",
        "in first": "dans=in {d:le}, {p:le} a~see vu=see {n:un}",
        "on": "{p:le} a~see vu=see {n:un} sur=on {d:le}",
        "on first": "sur=on {d:le}, {p:le} a~see vu=see {n:un}",
        "of": "{p:le} a~touch touché=touch {n:le} {d:du~of}",
        "do": "{p:le} a~d.noun DID=d.noun {n:le}",
    },
    "it": {
        "reach": "{p:il} ha~reach raggiunto=reach {n:il} dopo=after aver~cross attraversato=cross {d:il}",
        "reach first": "dopo=after aver~cross attraversato=cross {d:il}, {p:il} ha~reach raggiunto=reach {n:il}",
        "in": "{p:il} ha~see visto=see {n:un} {d:nel=in}",
        "in first": "{d:nel=in} {p:il} ha~see visto=see {n:un}",
        "on": "{p:il} ha~see visto=see {n:un} {d:sul=on}",
        "on first": "{d:sul=on} {p:il} ha~see visto=see {n:un}",
        "of": "{p:il} ha~touch toccato=touch {n:il} {d:del~of}",
        "do": "{p:il} ha~d.noun DID=d.noun {n:il}",
    },
    "de": {
        "reach": "{p:der} | erreichte=reach | {n:den}, nachdem=after {p:er~cross} {d:den} überquert=cross hatte~cross",
        "reach first": "nachdem=after {p:der} {d:den} überquert=cross hatte~cross, "
        "erreichte=reach {p:er~reach} {n:den}",
        "in": "{p:der} | sah=see | {n:einen} {d:im=in}",
        "in first": "{d:im=in} sah=see {p:der} {n:einen}",
        "on": "{p:der} | sah=see | {n:einen} auf=on {d:dem}",
        "on first": "auf=on {d:dem} sah=see {p:der} {n:einen}",
        "of": "{p:der} | berührte=touch | {n:den} {d:des~of}",
        "do": "{p:der} | DID=d.noun | {n:den}",
    },
}
"""p is a person, n the ambiguous noun, d what decides it (a verb in the last); "first" puts that before the rest."""


class Ambiguous(NamedTuple):
    """A story with an ambiguous noun.

    It opens with its subject (opening ""), with the deciding word ("first"), or with a time.
    """

    noun: str
    sense: str
    decider: str
    person: str
    mood: str
    opening: str = ""

    def referents(self) -> Referents:
        """Return p, the person, n, the noun in its sense, and d, what decides it."""
        person = Referent(self.person, quality=self.mood)
        return (("p", person), ("n", Referent(f"{self.noun}/{self.sense}")), ("d", Referent(self.decider)))

    def marked(self, language: str) -> str:
        """Return the marked sentence."""
        plot = PLOTS[self.noun]
        if self.opening == "first":
            return LINES[language][f"{plot} first"] + "."
        line = LINES[language][plot]
        if plot == "do":
            line = line.replace("DID", verb(language, self.decider))
        return begin(language, self.opening, line) + "."


def draw(name: str, split: str) -> Ambiguous:
    """Return the story of a name, about one of the combinations of a split."""
    chance = Draw(name)
    noun = chance.among(list(SENSES))
    sense = chance.among(list(SENSES[noun]))
    person, decider, mood = chance.among(choices()[split, noun, sense])
    opening = draw_opening(chance) if PLOTS[noun] in ("of", "do") else chance.among(("", "first"))
    return Ambiguous(noun, sense, decider.split("/")[2], person, mood, opening)


@cache
def choices() -> dict[tuple[str, str, str], list[Triple]]:
    """Return the (person, what decides which noun, mood) of every split and sense."""
    found: dict[tuple[str, str, str], list[Triple]] = {}
    senses = [
        (noun, sense, decider) for noun, senses in SENSES.items() for sense in senses for decider in senses[sense]
    ]
    triples = [(person, "/".join(sense), mood) for person, sense, mood in product(PERSONS, senses, MOODS)]
    for triple, split in homes(triples).items():
        noun, sense, _ = triple[1].split("/")
        found.setdefault((split, noun, sense), []).append(triple)
    return found
