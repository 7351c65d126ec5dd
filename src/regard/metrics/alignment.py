"""Word alignments: how well links agree with gold ones, and how they are read, written and taken from weights.

With A the links, S the sure and P ⊇ S the possible gold links (Och and Ney 2003), summed over all sentences:

    precision = |A ∩ P| / |A|    recall = |A ∩ S| / |S|    error rate = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

A link is (source word, target word), counted from 0. In a file it is `i-j` where sure and `ipj` where only possible.
"""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regard.data.corpus import Links, Pair

Link = tuple[int, int]
Span = tuple[int, int]


def error_rate(links: Sequence[AbstractSet[Link]], gold: Sequence[Links]) -> float:
    """Return the alignment error rate, 0 (perfect) to 1; 0 where there is nothing to find and nothing was found."""
    found, sure, found_sure, found_possible = _counts(links, gold)
    return 1 - (found_sure + found_possible) / (found + sure) if found + sure else 0.0


def precision(links: Sequence[AbstractSet[Link]], gold: Sequence[Links]) -> float:
    """Return the fraction of links that are possible; 1 of no links."""
    found, _, _, found_possible = _counts(links, gold)
    return found_possible / found if found else 1.0


def recall(links: Sequence[AbstractSet[Link]], gold: Sequence[Links]) -> float:
    """Return the fraction of sure links that were found; 1 of no sure links."""
    _, sure, found_sure, _ = _counts(links, gold)
    return found_sure / sure if sure else 1.0


def _counts(links: Sequence[AbstractSet[Link]], gold: Sequence[Links]) -> tuple[int, int, int, int]:
    if len(links) != len(gold):
        raise ValueError(f"{len(links)} alignments came for {len(gold)} gold alignments; give one for each sentence")
    return (
        sum(len(each) for each in links),
        sum(len(each.sure) for each in gold),
        sum(len(each & right.sure) for each, right in zip(links, gold, strict=True)),
        sum(len(each & right.possible) for each, right in zip(links, gold, strict=True)),
    )


def links_of(weights: ArrayLike) -> set[Link]:
    """Return the links of weights_TS: each target word with its strongest source word, the first of equals.

    A target word that looked at nothing has no link.
    """
    weights_TS: NDArray[Any] = np.asarray(weights)
    if weights_TS.ndim != 2:
        raise ValueError(f"weights have shape {weights_TS.shape}, but must be target words × source words")
    if not weights_TS.size:
        return set()
    strongest_T = weights_TS.argmax(axis=1)
    return {(int(source), target) for target, source in enumerate(strongest_T) if weights_TS[target, source] > 0}


def merge(weights: ArrayLike, rows: Sequence[Span], columns: Sequence[Span]) -> NDArray[Any]:
    """Return weights between words from weights between their pieces, over the last two axes.

    Spans are [start, end). What goes into the pieces of a word is summed; what comes out of them is averaged, so that
    rows which sum to one still do. Pieces in no span are left out, a span without pieces gets zeros.
    """
    weights_TS: NDArray[Any] = np.asarray(weights, dtype=np.float64)
    into = _summed(weights_TS, columns)
    out = np.swapaxes(_summed(np.swapaxes(into, -1, -2), rows), -1, -2)
    pieces = np.array([max(end - start, 1) for start, end in rows], dtype=np.float64)
    averaged: NDArray[Any] = out / pieces[:, None]
    return averaged


def _summed(weights: NDArray[Any], spans: Sequence[Span]) -> NDArray[Any]:
    """Return the sums of the last axis within each span."""
    sums = np.zeros((*weights.shape[:-1], len(spans)))
    for word, (start, end) in enumerate(spans):
        if not 0 <= start <= end <= weights.shape[-1]:
            raise ValueError(f"a word has the pieces [{start}, {end}), but there are {weights.shape[-1]}")
        sums[..., word] = weights[..., start:end].sum(axis=-1)
    return sums


def read_pharaoh(*paths: str | Path, start: int = 0) -> list[Links]:
    """Return the links of each line of these files, one after another; `start` is the number of the first word.

    Links of a line are separated by spaces, an empty line has none.
    """
    return [_line_links(line, where, start) for path in paths for where, line in _lines(path)]


def to_pharaoh(links: Links | Iterable[Link], start: int = 0) -> str:
    """Return a line of links, in order; of gold `Links`, those that are only possible as `ipj`."""
    sure, possible = links if isinstance(links, Links) else (frozenset(links), frozenset())
    return " ".join(
        f"{source + start}{'-' if (source, target) in sure else 'p'}{target + start}"
        for source, target in sorted(sure | possible)
    )


def read_pairs(path: str | Path, other: str | Path | None = None) -> list[Pair]:
    """Return the sentences of an alignment: of two files of one sentence a line, or of one of `source ||| target`."""
    if other is not None:
        sources, targets = ([line for _, line in _lines(each)] for each in (path, other))
        if len(sources) != len(targets):
            raise ValueError(f"{path} has {len(sources)} lines, but {other} has {len(targets)}")
        return [Pair(source.strip(), target.strip()) for source, target in zip(sources, targets, strict=True)]
    pairs = []
    for where, line in _lines(path):
        sides = line.split("|||")
        if len(sides) != 2:
            raise ValueError(f"{where}: expected `source ||| target`, found {line.strip()!r}")
        pairs.append(Pair(sides[0].strip(), sides[1].strip()))
    return pairs


def _line_links(line: str, where: str, start: int) -> Links:
    sure, possible = set(), set()
    for text in line.split():
        match = re.fullmatch(r"([0-9]+)([-p])([0-9]+)", text)
        if not match:
            raise ValueError(f"{where}: {text!r} is no link; write i-j for a sure and ipj for a possible one")
        link = int(match[1]) - start, int(match[3]) - start
        if min(link) < 0:
            raise ValueError(f"{where}: link {text} stands before the first word, which has the number {start}")
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return Links(frozenset(sure), frozenset(possible))


def _lines(path: str | Path) -> Iterator[tuple[str, str]]:
    """Yield each line of a file, plain or gzip, with the place that an error names."""
    content = Path(path).read_bytes()
    if content.startswith(b"\x1f\x8b"):
        try:
            content = gzip.decompress(content)
        except (EOFError, gzip.BadGzipFile, zlib.error) as reason:
            raise ValueError(f"{path} is a damaged gzip file ({reason})") from None
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n") if content else [], start=1):
        try:
            yield f"{path}:{number}", line.decode()
        except UnicodeDecodeError as reason:
            raise ValueError(f"{path}:{number} is not UTF-8 text: {reason.reason}") from None
