"""One JSON object a line: {"en": …, "fr": …}, {"source": …, "target": …} or {"translation": {"en": …, "fr": …}}."""

import json
from collections.abc import Iterator
from pathlib import Path

from regard.data.lines import Ask, Fault, Line, each_line, same_language


def read(path: Path, ask: Ask) -> Iterator[Line]:
    def parse(line: str) -> tuple[str, str]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as reason:
            raise Fault("invalid JSON", f"not valid JSON ({reason})") from None
        return sides(record, ask)

    return each_line(path, ask, parse)


def sides(record: object, ask: Ask) -> tuple[str, str]:
    """Return source and target of one object; a key that is asked for may lead inside: translation.en."""
    if not isinstance(record, dict):
        raise Fault("no JSON object", f"a JSON object is expected, but this is {shown(record)}")
    if named := ask.named():
        return text(inside(record, named[0]), named[0], record), text(inside(record, named[1]), named[1], record)
    inner = record.get("translation")
    if isinstance(inner, dict):
        record = inner
    source, target = key(record, ask.source, "source"), key(record, ask.target, "target")
    return text(record.get(source), source, record), text(record.get(target), target, record)


def key(record: dict[str, object], language: str, side: str) -> str:
    """Return the key of a language or one of its regional forms; without any, of the side."""
    keys = [key for key in record if same_language(key, language)]
    return min(keys, key=len) if keys else side if side in record else language


def text(value: object, name: str, record: dict[str, object]) -> str:
    if value is None:
        raise Fault("missing key", f"there is no {name!r}; the keys are {', '.join(record) or 'none'}")
    if not isinstance(value, str):
        raise Fault("no text", f"{name!r} must be a text, but is {shown(value)}")
    if any("\ud800" <= sign <= "\udfff" for sign in value):
        raise Fault("half a character", f"{name!r} has one half of a surrogate pair, which is no character")
    return value


def inside(record: object, path: str) -> object:
    """Return what a path like translation.en leads to; None where it leads nowhere."""
    for part in path.split("."):
        record = record.get(part) if isinstance(record, dict) else None
    return record


def shown(value: object) -> str:
    short = json.dumps(value, ensure_ascii=False)
    return short if len(short) <= 40 else short[:40] + "…"
