"""Scenes on disk: SPLIT.LANGUAGE, SPLIT.FIRST-SECOND.align (Pharaoh), and SPLIT.jsonl, what every line means."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, TextIO

from regard.data.corpus import Links
from regard.data.scenes import scene
from regard.data.scenes.corpus import SPLITS, Scenes, mentions, pointer
from regard.data.scenes.items import Item, sentence, text_words
from regard.data.scenes.lexicon import LANGUAGES
from regard.data.scenes.pronoun import It
from regard.data.scenes.scene import Scene
from regard.data.scenes.words import Word, link


def write(
    folder: str | Path,
    *,
    languages: Sequence[str] = LANGUAGES,
    seed: int = 1,
    train: int = 60_000,
    val: int = 1_000,
    test: int = 2_000,
    overwrite: bool = False,
) -> list[Path]:
    """Write Scenes into a folder and return the files. All of them appear when all are whole, or none does."""
    for language in languages:
        if language not in LANGUAGES:
            raise ValueError(f"Scenes has no language {language!r}; it has {', '.join(LANGUAGES)}")
    if len(set(languages)) < len(languages) or not languages:
        raise ValueError(
            f"languages are {', '.join(languages) or 'none'}, but must be some of {', '.join(LANGUAGES)}, each once"
        )
    corpus = Scenes(seed=seed, train=train, val=val, test=test)
    folder = Path(folder)
    names = [f"{split}.{ending}" for split in SPLITS for ending in _endings(languages)]
    taken = [name for name in names if (folder / name).exists()]
    if taken and not overwrite:
        raise ValueError(f"{folder} already holds {taken[0]}; choose another folder or ask to overwrite")
    folder.mkdir(parents=True, exist_ok=True)
    with _aside(folder, names) as files:
        for split in SPLITS:
            for found in corpus.items(split):
                _write_item(found, split, languages, files)
    return [folder / name for name in names]


def _endings(languages: Sequence[str]) -> list[str]:
    return [*languages, *(f"{first}-{second}.align" for first, second in combinations(languages, 2)), "jsonl"]


def _write_item(item: Item, split: str, languages: Sequence[str], files: Mapping[str, TextIO]) -> None:
    said = sentence(item)
    words = {language: text_words(language, said) for language in languages}
    keys = {language: tuple(word.keys for word in words[language]) for language in languages}
    for language in languages:
        print(" ".join(word.text for word in words[language]), file=files[f"{split}.{language}"])
    for first, second in combinations(languages, 2):
        print(pharaoh(link(keys[first], keys[second])), file=files[f"{split}.{first}-{second}.align"])
    print(json.dumps(record(item, words), ensure_ascii=False), file=files[f"{split}.jsonl"])


@cache
def pharaoh(links: Links) -> str:
    """Return links as a line: i-j is sure, ipj only possible, words counted from 0."""
    return " ".join(f"{i}{'-' if (i, j) in links.sure else 'p'}{j}" for i, j in sorted(links.possible))


def record(item: Item, words: dict[str, list[Word]]) -> dict[str, Any]:
    """Return what an example means as plain data, with the places of its words in each language.

    A caption has its objects and the spans of words [start, end) that speak of each. A story with *it* says which noun
    *it* means, and which words they are; one with an ambiguous noun says which sense it has, and which word decides.
    """
    if isinstance(item, Scene):
        spoken_of = {language: mentions(item, found) for language, found in words.items()}
        return {"kind": "caption", **scene.describe(item), "mentions": spoken_of}
    points = {language: pointer(item, found) for language, found in words.items()}
    places = {language: list(point[1:]) for language, point in points.items() if point}
    if isinstance(item, It):
        told = {"nouns": list(item.nouns), "adjective": item.adjective, "it": item.nouns[item.means]}
        return {"kind": "it", **told, "it_and_noun": places}
    told = {"noun": item.noun, "sense": item.sense, "decided_by": item.decider}
    return {"kind": "ambiguous", **told, "noun_and_decider": places}


@contextmanager
def _aside(folder: Path, names: Sequence[str]) -> Iterator[Mapping[str, TextIO]]:
    """Open files under other names; rename them when everything is written, remove them when anything fails."""
    aside = {name: folder / f".{name}.{os.getpid()}" for name in names}
    try:
        with ExitStack() as stack:
            files = {
                name: stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
                for name, path in aside.items()
            }
            yield files
            for file in files.values():
                file.flush()
                os.fsync(file.fileno())
        for name, path in aside.items():
            path.replace(folder / name)
    finally:
        for path in aside.values():
            path.unlink(missing_ok=True)
