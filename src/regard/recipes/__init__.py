"""One file per lecture system: the place to start reading. Here they are found and listed, without importing them.

A recipe's docstring begins with what it is, then gives a line for each measurement and the command that repeats it:

    Caption pictures with a convolutional encoder and an attentive RNN (captioning lecture).

    Scenes, two CPU cores: about 6 minutes, exact-match 0.95.    regard train caption-rnn
"""

import ast
import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent


class Measured(NamedTuple):
    """What was measured, and the command that measures it again."""

    result: str
    command: str


class Listing(NamedTuple):
    """What a recipe's docstring says of it."""

    name: str
    summary: str
    lecture: str
    measured: list[Measured]


def names() -> list[str]:
    """Return the names of all recipes, as they are written on the command line; a file _like_this.py is none."""
    return sorted(path.stem.replace("_", "-") for path in FOLDER.glob("[!_]*.py"))


def file(name: str) -> Path:
    """Return the file of a recipe."""
    return FOLDER / f"{name.replace('-', '_')}.py"


def listing(name: str) -> Listing:
    """Return what the docstring of a recipe says of it."""
    text = ast.get_docstring(ast.parse(file(name).read_text(encoding="utf-8"))) or ""
    first, _, rest = text.partition("\n\n")
    summary = " ".join(first.split())
    lecture = re.search(r"\(([^()]*lecture[^()]*)\)", summary)
    measured = [Measured(*line) for line in re.findall(r"^(?:(.*?)\s{2,})?(regard .+)$", rest, re.MULTILINE)]
    return Listing(name, summary, lecture[1] if lecture else "", measured)
