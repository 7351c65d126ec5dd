"""Scenes as a corpus: pairs of texts in two of the four languages, with gold alignments."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from regard.data.corpus import Links, Pair
from regard.data.scenes import judge
from regard.data.scenes.ambiguous import Ambiguous
from regard.data.scenes.items import Item, item, sentence, text, text_words
from regard.data.scenes.lexicon import LANGUAGES
from regard.data.scenes.pronoun import It
from regard.data.scenes.scene import Scene
from regard.data.scenes.words import Word, link

SPLITS = ("train", "val", "test")


class Pointer(NamedTuple):
    """Two words of a source text, counted from 0.

    They are *it* (in Italian its verb) and the noun that it means, or an ambiguous noun and the word that decides it.
    """

    kind: str
    word: int
    points_to: int


@dataclass(frozen=True)
class Scenes:
    """Captions and stories in two of the languages en, fr, it and de, all of which follow from one seed.

    The numbers are pairs of a split. A split is eight captions, a story with *it* and one with an ambiguous noun, over
    and over. A target is a function of its source, whichever two languages they are.
    """

    source: str = "en"
    target: str = "fr"
    seed: int = 1
    train: int = 60_000
    val: int = 1_000
    test: int = 2_000

    def __post_init__(self) -> None:
        for language in (self.source, self.target):
            if language not in LANGUAGES:
                raise ValueError(f"Scenes has no language {language!r}; it has {', '.join(LANGUAGES)}")
        if self.source == self.target:
            raise ValueError(
                f"source and target are both {self.source!r}; Scenes needs two languages of {', '.join(LANGUAGES)}"
            )
        for split in SPLITS:
            if self.size(split) < 0:
                raise ValueError(f"a split cannot have {self.size(split)} pairs, but {split} was asked to")

    def splits(self) -> list[str]:
        """Return the splits; val and test hold combinations that train never shows."""
        return list(SPLITS)

    def size(self, split: str) -> int:
        """Return how many pairs a split has."""
        if split not in SPLITS:
            raise ValueError(f"Scenes has no split {split!r}; it has {', '.join(SPLITS)}")
        return {"train": self.train, "val": self.val, "test": self.test}[split]

    def items(self, split: str) -> Iterator[Item]:
        """Go through the examples of a split: scenes, stories with *it*, stories with an ambiguous noun."""
        return (item(self.seed, split, index) for index in range(self.size(split)))

    def scenes(self, split: str) -> Iterator[Scene]:
        """Go through the scenes of a split, without its stories: what pictures are drawn from."""
        return (found for found in self.items(split) if isinstance(found, Scene))

    def pairs(self, split: str) -> list[Pair]:
        """Return the pairs of a split."""
        said = map(sentence, self.items(split))
        return [Pair(text(self.source, says), text(self.target, says)) for says in said]

    def alignments(self, split: str) -> list[Links]:
        """Return the gold alignments of a split: what has meaning is sure, articles and contractions are possible."""
        found = []
        for said in map(sentence, self.items(split)):
            source, target = text_words(self.source, said), text_words(self.target, said)
            found.append(link(tuple(word.keys for word in source), tuple(word.keys for word in target)))
        return found

    def pointers(self, split: str) -> list[Pointer | None]:
        """Return what the decisive word of each source text points to; captions have none."""
        return [pointer(found, text_words(self.source, sentence(found))) for found in self.items(split)]

    def measures(self, split: str, outputs: list[str]) -> dict[str, float]:
        """Return how often *it* and the ambiguous noun are right, as `judge` defines it.

        Outputs are those of the whole split, or of its first pairs.
        """
        if len(outputs) > self.size(split):
            raise ValueError(
                f"{len(outputs)} outputs came, but the {split} split of Scenes has {self.size(split)} pairs"
            )
        items = [item(self.seed, split, index) for index in range(len(outputs))]
        return judge.measures(self.target, items, outputs)

    def describe(self) -> dict[str, object]:
        """Return what this corpus is; the fingerprint changes with the grammar, the seed and the languages."""
        first = [
            pair for split in SPLITS for pair in Scenes(self.source, self.target, self.seed, 100, 100, 100).pairs(split)
        ]
        described = {"format": "scenes", "source": self.source, "target": self.target, "seed": self.seed}
        pairs = {split: self.size(split) for split in SPLITS}
        fingerprint = sha256(repr(first).encode()).hexdigest()
        return described | {"pairs": pairs, "files": [], "skipped": 0, "fingerprint": fingerprint}


def pointer(item: Item, words: list[Word]) -> Pointer | None:
    """Return what the decisive word of an example points to in its text."""
    if isinstance(item, It):
        return Pointer("it", find(words, "m.it"), find(words, "xy"[item.means] + ".noun"))
    if isinstance(item, Ambiguous):
        return Pointer("ambiguous", find(words, "n.noun"), find(words, "d.noun"))
    return None


def mentions(scene: Scene, words: list[Word]) -> list[list[tuple[int, int]]]:
    """Return, for each object of a scene, the runs of words [start, end) in its caption that speak of it."""
    found: list[list[tuple[int, int]]] = [[] for _ in scene.objects]
    for spans, letter in zip(found, "abc", strict=False):
        for i, word in enumerate(words):
            if any(key.startswith(f"{letter}.") for key in word.keys.means + word.keys.helps):
                start = spans.pop()[0] if spans and spans[-1][1] == i else i
                spans.append((start, i + 1))
    return found


def find(words: list[Word], key: str) -> int:
    """Return the first word that means something, or else the first that helps to say it."""
    means = [i for i, word in enumerate(words) if key in word.keys.means]
    return (means or [i for i, word in enumerate(words) if key in word.keys.helps])[0]
