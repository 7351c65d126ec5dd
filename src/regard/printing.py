"""What a result looks like: for people, or as JSON."""

import dataclasses
import json
import math
from typing import Any

LONG = 80  # a longer list has a line for each of its parts


def answer(value: Any, as_json_alone: bool) -> None:
    """Print a result on standard output."""
    print(as_json(value) if as_json_alone else told(value))


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: named tuples and dataclasses by name, what is no number as null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return [plain(inner) for inner in sorted(value)]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def as_json(value: Any) -> str:
    """Return a value as one line of JSON, in UTF-8 as it stands."""
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)


def told(value: Any, indent: str = "") -> str:
    """Return a result for people: a name and a value a line, parts further in."""
    lines = []
    named = plain(value)
    width = max(map(len, named), default=0)
    for name, inner in named.items():
        if isinstance(inner, dict) and set(inner) == {"value", "signature"}:  # a score
            lines.append(f"{indent}{name:{width}}  {number(inner['value']):>8}  {inner['signature']}".rstrip())
        elif isinstance(inner, dict) and inner:
            lines += [f"{indent}{name}", told(inner, indent + "  ")]
        elif isinstance(inner, list) and inner and isinstance(inner[0], dict):
            lines.append(f"{indent}{name}")
            lines += [told(each, indent + "  ") for each in inner]
        elif isinstance(inner, list) and len(short(inner)) > LONG:
            lines += [f"{indent}{name}", *(f"{indent}  {short(each)}" for each in inner)]
        else:
            lines.append(f"{indent}{name:{width}}  {short(inner)}".rstrip())
    return "\n".join(lines)


def short(value: Any) -> str:
    """Return a value on one line."""
    if isinstance(value, list):
        return ", ".join(map(short, value))
    return number(value) if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value or "")


def number(value: float | None) -> str:
    """Return a number as far as people read it."""
    if value is None:
        return "unknown"
    return f"{value:.2f}" if 1 <= abs(value) < 1e6 else f"{value:.4g}"


def one_line(text: str) -> str:
    """Return a text that stays on its line, whatever the model wrote."""
    return text.replace("\n", " ")
