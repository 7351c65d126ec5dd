"""The examples of a split: eight captions, then a story with *it* and one with an ambiguous noun, over and over.

An example is a pure function of (seed, split, index). Stories with *it* come in twins that differ in the adjective
alone, so that both answers are equally often right, also among those where gender matters, in whatever language.
"""

from collections import defaultdict
from functools import cache
from itertools import product
from typing import NamedTuple

from regard.data.draw import Draw
from regard.data.scenes import ambiguous, captions, pronoun
from regard.data.scenes.ambiguous import Ambiguous
from regard.data.scenes.held_out import Triple, homes
from regard.data.scenes.layout import boxes
from regard.data.scenes.lexicon import Referent
from regard.data.scenes.pronoun import It
from regard.data.scenes.scene import ARRANGEMENTS, COLOURS, NOUNS, SIDES, SIZES, Arrangement, Scene, Thing, arrangement
from regard.data.scenes.words import Pattern, Referents, Word, parse, spell, words

Item = Scene | It | Ambiguous


class Sentence(NamedTuple):
    """What an example says, ready to be said in any language."""

    says: Arrangement | It | Ambiguous
    referents: Referents


def item(seed: int, split: str, index: int) -> Item:
    """Return an example of a split."""
    kind, number = index % 10, index // 10
    if kind < 8:
        return _scene(Draw(f"{seed}/{split}/caption/{index}"), split)
    if kind == 8:
        return pronoun.draw(f"{seed}/{split}/it/{number // 2}", split, means=number % 2)
    return ambiguous.draw(f"{seed}/{split}/ambiguous/{number}", split)


def sentence(item: Item) -> Sentence:
    """Return what an example says."""
    if not isinstance(item, Scene):
        return Sentence(item, item.referents())
    things = zip("abc", item.objects, strict=False)
    return Sentence(arrangement(item), tuple((letter, Referent(*thing[:3])) for letter, thing in things))


def text(language: str, said: Sentence) -> str:
    """Return a sentence in a language."""
    return spell(language, _pattern(language, said.says), said.referents)


def text_words(language: str, said: Sentence) -> list[Word]:
    """Return the words of a sentence in a language, with what they mean."""
    return words(language, _pattern(language, said.says), said.referents)


@cache
def _pattern(language: str, says: Arrangement | It | Ambiguous) -> Pattern:
    marked = captions.sentence(language, says) if isinstance(says, Arrangement) else says.marked(language)
    return parse(marked)


@cache
def home() -> dict[Triple, str]:
    """Return the split of every (size, colour, noun)."""
    return homes(product(SIZES, COLOURS, NOUNS))


@cache
def _looks() -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return the (colour, size) that a noun may have in the captions of a split: its own ones and those of training."""
    found = defaultdict(list)
    for (size, colour, noun), split in home().items():
        for reader in ("train", "val", "test") if split == "train" else (split,):
            found[reader, noun].append((colour, size))
    return found


@cache
def _held(split: str) -> list[Triple]:
    return [triple for triple, where in home().items() if where == split]


def _scene(draw: Draw, split: str) -> Scene:
    count = (1, 2, 2, 3, 3)[draw.below(5)]
    wanted = draw.among(ARRANGEMENTS[count])
    nouns = list(NOUNS)
    things = []
    if split != "train":
        size, colour, noun = draw.among(_held(split))
        nouns.remove(noun)
        things.append((noun, colour, size))
    while len(things) < count:
        noun = nouns.pop(draw.below(len(nouns)))
        things.append((noun, *draw.among(_looks()[split, noun])))
    if split != "train":
        things.insert(draw.below(count), things.pop(0))
    if wanted.relations in (("left",), ("right",)) and count == 2:
        larger_first = SIDES[things[0][2]] > SIDES[things[1][2]]
        wanted = Arrangement("pair", ("right" if larger_first else "left",))
    places = boxes(wanted, [size for _, _, size in things], draw)
    return Scene(tuple(Thing(*thing, box) for thing, box in zip(things, places, strict=True)))
