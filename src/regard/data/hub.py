"""Datasets of the Hugging Face hub, through the `datasets` library where it is installed.

A place is hf:org/name, hf:org/name:configuration, hf:org/name@revision, or all of these.
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from regard.data.corpus import Pair
from regard.data.lines import Ask, Bad, Fault, Line, Row, checked
from regard.data.readers.jsonl import sides


def load(place: str) -> dict[str, Any]:
    """Return the tables of a dataset by split. This downloads what is not there yet."""
    try:
        datasets = import_module("datasets")
    except ImportError:
        raise ValueError(f"{place} needs the datasets library: pip install 'regard[hub]'") from None
    name, _, revision = place.removeprefix("hf:").partition("@")
    name, _, configuration = name.partition(":")
    return dict(datasets.load_dataset(name, configuration or None, revision=revision or None))


def read(place: str, table: Iterable[object], ask: Ask) -> Iterator[Line]:
    for number, record in enumerate(table, 1):
        try:
            source, target = sides(record, ask)
            pair = Pair(checked(source, ask.source), checked(target, ask.target))
        except Fault as fault:
            yield Bad(place, number, fault.reason, fault.detail)
        else:
            yield Row(place, number, pair)
