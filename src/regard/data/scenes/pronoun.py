"""Stories with *it*: the adjective alone says whether *it* means the first noun or the second.

"The ball did not fit into the box because it was too big" (the ball) "… too small" (the box). In French and German the
pronoun shows the gender of the noun meant; Italian leaves it out, so its adjectives are ones that agree. The content is
the same in every language, so each language follows from each.
"""

from functools import cache
from itertools import product
from typing import NamedTuple

from regard.data.draw import Draw
from regard.data.scenes.held_out import Triple, homes
from regard.data.scenes.lexicon import Referent
from regard.data.scenes.opening import begin, draw_opening
from regard.data.scenes.words import Referents

ANIMALS = ("animal", "dog", "cat", "horse", "cow", "duck", "turtle", "mouse")
VEHICLES = ("car", "truck", "bus", "bicycle", "tractor", "motorcycle")


class Frame(NamedTuple):
    """A kind of sentence with *it*: which nouns can be first and second, and adjectives in couples, the first of
    which makes *it* the first noun, the second the second."""

    firsts: tuple[str, ...]
    seconds: tuple[str, ...]
    couples: tuple[tuple[str, str], ...]
    degree: str = "too"

    def triples(self) -> list[Triple]:
        """Return all combinations; a couple counts as one, so that both answers are held out together."""
        pairs = [(first, second) for first, second in product(self.firsts, self.seconds) if first != second]
        return [(first, second, "/".join(couple)) for (first, second), couple in product(pairs, self.couples)]


FRAMES = {
    "fit": Frame(
        ("ball", "umbrella", "guitar", "lamp", "book", "clock", "hat", "trophy"),
        ("box", "suitcase", "bag", "drawer", "wardrobe", "basket"),
        (("big", "small"), ("wide", "narrow")),
    ),
    "through": Frame(
        ("sofa", "table", "bed", "piano", "armchair", "statue"),
        ("door", "window", "gate", "corridor", "tunnel"),
        (("big", "small"), ("wide", "narrow"), ("high", "low")),
    ),
    "reach": Frame(
        ("ladder", "rope", "cable", "crane", "stick", "chain"),
        ("window", "roof", "branch", "shelf", "balcony", "ceiling"),
        (("short", "high"), ("small", "far")),
    ),
    "cross": Frame(
        ANIMALS, ("street", "river", "field", "square", "stream", "motorway"), (("tired", "wide"), ("ill", "dangerous"))
    ),
    "eat": Frame(
        ("animal", "dog", "cat", "duck", "turtle", "mouse"),
        ("bread", "soup", "cheese", "cake", "fish", "meat", "egg"),
        (("tired", "hot"), ("ill", "salty")),
    ),
    "overtake": Frame(VEHICLES, VEHICLES, (("fast", "slow"), ("new", "old")), degree="so"),
}

MAIN = {
    "en": {
        "fit": "{x:the} did~fit not=not fit=fit into=into {y:the}",
        "through": "{x:the} did~fit not=not fit=fit through=through {y:the}",
        "reach": "{x:the} did~reach not=not reach=reach {y:the}",
        "cross": "{x:the} did~cross not=not cross=cross {y:the}",
        "eat": "{x:the} did~eat not=not eat=eat {y:the}",
        "overtake": "{x:the} overtook=overtake {y:the}",
    },
    "fr": {
        "fit": "{x:le} ne~not rentrait=fit pas=not dans=into {y:le}",
        "through": "{x:le} ne~not passait=fit pas=not par=through {y:le}",
        "reach": "{x:le} n'atteignait=reach~not pas=not {y:le}",
        "cross": "{x:le} n'a~not~cross pas=not traversé=cross {y:le}",
        "eat": "{x:le} n'a~not~eat pas=not mangé=eat {y:le}",
        "overtake": "{x:le} a~overtake dépassé=overtake {y:le}",
    },
    "it": {
        "fit": "{x:il} non=not entrava=fit {y:nel=into}",
        "through": "{x:il} non=not passava=fit {y:dal=through}",
        "reach": "{x:il} non=not raggiungeva=reach {y:il}",
        "cross": "{x:il} non=not ha~cross attraversato=cross {y:il}",
        "eat": "{x:il} non=not ha~eat mangiato=eat {y:il}",
        "overtake": "{x:il} ha~overtake superato=overtake {y:il}",
    },
    "de": {
        "fit": "{x:der} | passte=fit | nicht=not in=into {y:den}",
        "through": "{x:der} | passte=fit | nicht=not durch=through {y:den}",
        "reach": "{x:der} | reichte=reach | nicht=not bis~reach {y:zum~reach}",
        "cross": "{x:der} | überquerte=cross | {y:den} nicht=not",
        "eat": "{x:der} | fraß=eat | {y:den} nicht=not",
        "overtake": "{x:der} | überholte=overtake | {y:den}",
    },
}
"""What the first did to the second. Strokes set the German verb apart: it stays second, whatever comes first."""

BECAUSE = {
    "en": "because=because it=m.it was=was DEGREE=degree {m:quality}.",
    "fr": "parce=because {m:qu'il~because} était=was DEGREE=degree {m:quality}.",
    "it": "perché=because era=was~m.it DEGREE=degree {m:quality}.",
    "de": "weil=because {m:er} DEGREE=degree {m:quality} war=was.",
}
"""Why; m is the noun that *it* means. Italian leaves *it* out, and its verb stands for it."""

DEGREES = {
    "en": {"too": "too", "so": "so"},
    "fr": {"too": "trop", "so": "si"},
    "it": {"too": "troppo", "so": "così"},
    "de": {"too": "zu", "so": "so"},
}


class It(NamedTuple):
    """A story with *it*; means is 0 where *it* is the first noun, 1 where it is the second."""

    frame: str
    nouns: tuple[str, str]
    couple: tuple[str, str]
    means: int
    opening: str = ""

    @property
    def adjective(self) -> str:
        return self.couple[self.means]

    def referents(self) -> Referents:
        """Return x and y, the two nouns, and m, the one that *it* means."""
        meant = Referent(self.nouns[self.means], quality=self.adjective)
        return (("x", Referent(self.nouns[0])), ("y", Referent(self.nouns[1])), ("m", meant))

    def marked(self, language: str) -> str:
        """Return the marked sentence."""
        main = begin(language, self.opening, MAIN[language][self.frame])
        degree = DEGREES[language][FRAMES[self.frame].degree]
        return f"{main}{',' * (language == 'de')} {BECAUSE[language].replace('DEGREE', degree)}"


def draw(name: str, split: str, means: int) -> It:
    """Return the story of a name, about one of the combinations of a split."""
    chance = Draw(name)
    frame = chance.among(list(FRAMES))
    first, second, couple = chance.among(choices()[split, frame])
    big, small = couple.split("/")
    return It(frame, (first, second), (big, small), means, draw_opening(chance))


@cache
def choices() -> dict[tuple[str, str], list[Triple]]:
    """Return the (first noun, second noun, couple of adjectives) of every split and frame."""
    home = homes(triple for frame in FRAMES.values() for triple in frame.triples())
    splits = sorted(set(home.values()))
    return {
        (split, name): [triple for triple in frame.triples() if home[triple] == split]
        for split, (name, frame) in product(splits, FRAMES.items())
    }
