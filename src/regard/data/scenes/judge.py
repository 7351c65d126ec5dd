"""What only Scenes can judge of a translation: is *it* what it means, and has an ambiguous noun its sense?

Both measures read the output strictly and read nothing else in it.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from regard.data.scenes.ambiguous import SENSES, Ambiguous
from regard.data.scenes.items import Item, sentence, text_words
from regard.data.scenes.lexicon import noun
from regard.data.scenes.pronoun import It


def measures(target: str, items: Sequence[Item], outputs: Sequence[str]) -> dict[str, float]:
    """Return how often "it" and "ambiguous" are right, as fractions; a measure that nothing asks for is left out.

    it         of the stories where the two nouns differ in gender in the target language, those whose output shows the
               gender as the reference does: behind *parce* stands the right one of *qu'il* and *qu'elle*, behind *weil*
               that of *er*, *sie* and *es*, behind *troppo* or *così* the adjective in its right form, each time.
    ambiguous  of the stories with an ambiguous noun, those whose output has the noun of the right sense, and that of no
               other sense.

    English hides both differences.
    """
    if target == "en":
        return {}
    it = [_it(target, item, output) for item, output in zip(items, outputs, strict=True) if _matters(target, item)]
    ambiguous = [
        _ambiguous(target, item, output)
        for item, output in zip(items, outputs, strict=True)
        if isinstance(item, Ambiguous)
    ]
    return {name: sum(right) / len(right) for name, right in (("it", it), ("ambiguous", ambiguous)) if right}


def _matters(target: str, item: Item) -> bool:
    return isinstance(item, It) and len({noun(target, name).gender for name in item.nouns}) == 2


def _it(target: str, item: Item, output: str) -> bool:
    words = text_words(target, sentence(item))
    key = "m.quality" if target == "it" else "m.it"
    at = next(i for i, word in enumerate(words) if key in word.keys.means)
    before, shows = words[at - 1].text, words[at].text.strip(".,")
    found = [after for word, after in pairwise(re.findall(r"[^\s.,]+", output)) if word == before]
    return set(found) == {shows}


def _ambiguous(target: str, item: Ambiguous, output: str) -> bool:
    words = set(re.findall(r"[^\s.,'’]+", output))
    senses = {noun(target, f"{item.noun}/{sense}").word for sense in SENSES[item.noun]}
    return words & senses == {noun(target, f"{item.noun}/{item.sense}").word}
