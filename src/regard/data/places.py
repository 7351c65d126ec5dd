"""What there is to read in a place: a folder, a file, or hf:org/name.

In a folder, train.* is for training, val.*, valid.* and dev.* for validation, and any other stem is a test split of
that name; a file on its own is for training, whatever its name. Two files train.en and train.fr are read side by side;
a module of `readers` reads a file with both languages in it. Every file may be gzipped.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from regard.data import hub
from regard.data.lines import Ask, Line, lines, two_files
from regard.data.readers import formats, reader

VALIDATION = ("val", "valid", "validation", "dev")
SHOWN = 10  # files named in an error


class Part(NamedTuple):
    """Something that can be read: one file, two side by side, a table of a dataset."""

    format: str
    files: list[Path]
    read: Callable[[Ask], Iterator[Line]]


class Found(NamedTuple):
    """What was recognised in a place."""

    parts: dict[str, list[Part]]
    """By split. Nothing is held out yet."""
    ignored: list[Path]


def find(place: str, ask: Ask) -> Found:
    """Return what there is to read. Names are looked at, contents only of a file whose name says nothing."""
    if place.startswith("hf:"):
        return on_the_hub(place)
    path = Path(place)
    if path.is_dir():
        return in_folder(path, ask)
    if not path.exists():
        raise ValueError(f"there is no file or folder {place}; the embedded data is called scenes")
    return Found({"train": [in_file(path, ask)]}, [])


def in_folder(folder: Path, ask: Ask) -> Found:
    """Recognise the files of a folder. Of one stem, two files side by side come before one with both languages."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    stems: dict[str, Part] = {}
    for stem, group in sorted(by_stem(files).items()):
        sides = [only([file for file in group if ends_with(file, name)]) for name in (ask.source, ask.target)]
        if sides[0] and sides[1]:
            stems[stem] = side_by_side(sides[0], sides[1], ask)
        elif both := only([file for file in group if ending(file) in formats()]):
            stems[stem] = one_file(both)
    parts: dict[str, list[Part]] = defaultdict(list)
    for stem, part in stems.items():
        parts[split_of(stem)].append(part)
    used = {file for found in parts.values() for part in found for file in part.files}
    if not parts:
        raise ValueError(
            f"{folder} has no {ask.source}-{ask.target} pairs: expected train.{ask.source} and train.{ask.target}, "
            f"or train.tsv (or {', '.join(name for name in formats() if name != 'tsv')}); {listing(files)}"
        )
    return Found(dict(parts), [file for file in files if file not in used])


def in_file(file: Path, ask: Ask) -> Part:
    """Recognise a file: by its ending, by a twin in the other language beside it, or by a tab in its first line."""
    if ending(file) in formats():
        return one_file(file)
    for here, there in ((ask.source, ask.target), (ask.target, ask.source)):
        if ends_with(file, here):
            beside = by_stem(other for other in file.parent.iterdir() if other.is_file())[stem_of(file)]
            twin = only([other for other in beside if ends_with(other, there)])
            if twin is None:
                raise ValueError(f"{file} has no {there} side beside it; {listing(beside)}")
            return side_by_side(*((file, twin) if here == ask.source else (twin, file)), ask)
    if b"\t" in next(lines(file), b""):
        return Part("tsv", [file], partial(reader("tsv"), file))
    expected = f"two files like train.{ask.source} and train.{ask.target}, or columns between tabs"
    raise ValueError(f"{file} is of no known format: expected {', '.join(formats())}, {expected}")


def on_the_hub(place: str) -> Found:
    tables = hub.load(place)
    parts = {split_of(name): [Part("hub", [], partial(hub.read, place, table))] for name, table in tables.items()}
    return Found(parts, [])


def one_file(file: Path) -> Part:
    return Part(ending(file), [file], partial(reader(ending(file)), file))


def side_by_side(source: Path, target: Path, ask: Ask) -> Part:
    if source == target:
        raise ValueError(f"source and target are both {source}; two languages are expected, not {ask.source} twice")
    return Part("two files", [source, target], partial(two_files, source, target))


def split_of(stem: str) -> str:
    first = stem.partition(".")[0].lower()
    return "train" if first == "train" else "val" if first in VALIDATION else stem


def plain_name(file: Path) -> str:
    """Return the name without .gz, and without .txt where a language comes before it: train.en.txt."""
    name = file.name.removesuffix(".gz")
    return name.removesuffix(".txt") if name.count(".") > 1 else name


def ending(file: Path) -> str:
    return plain_name(file).rpartition(".")[2]


def ends_with(file: Path, language: str) -> bool:
    # No regional forms here: the end of OpenSubtitles.en-fr is no English of France.
    return ending(file).lower().replace("_", "-") == language.lower().replace("_", "-")


def stem_of(file: Path) -> str:
    return plain_name(file).rpartition(".")[0]


def by_stem(files: Iterable[Path]) -> dict[str, list[Path]]:
    groups: dict[str, list[Path]] = defaultdict(list)
    for file in sorted(files):
        groups[stem_of(file)].append(file)
    return groups


def only(files: list[Path]) -> Path | None:
    """Return the file, if there is one; among several that fit nobody can choose but the user."""
    if len(files) > 1:
        raise ValueError(f"{' and '.join(map(str, files))} hold the same text; keep one of them, or name one file")
    return files[0] if files else None


def listing(files: list[Path]) -> str:
    return f"there are {listed(files)}" if files else "there are no files"


def listed(files: list[Path]) -> str:
    more = f" and {len(files) - SHOWN} more" if len(files) > SHOWN else ""
    return ", ".join(file.name for file in files[:SHOWN]) + more
