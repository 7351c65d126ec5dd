"""A run of a second: rows of words written backwards, by a Transformer of width 8. And what is the same in two runs."""

import json
import random
from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

from regard.data.source import Source
from regard.training.run import run

WORDS = ["one", "two", "three", "four", "five", "six", "seven"]
FLAGS = {"layers": 1, "width": 8, "inner": 16, "heads": 2, "kind": "word", "vocabulary": 16, "dropout": 0.1}
PLAN = {
    "steps": 30,
    "batch": 100,
    "rate": 0.01,
    "warmup": 5,
    "look_every": 10,
    "save_every": 5,
    "draw_every": 1000,
    "average": "last:3",
    "keep": 3,
    "threads": 1,
    "precision": "float32",
}
# What two equal runs differ in: times, speeds, and the sizes and sums of what holds these.
TIMES = {"tokens_per_second", "loading_share", "seconds", "seconds of this session", "training", "loading"}
ELSE = {"log.jsonl", "progress.json", "run"}


def written(folder: Path, seed: int = 1) -> Path:
    """Write 60 pairs to train with and a few more as parallel files, and return their folder."""
    draw = random.Random(seed)
    folder.mkdir(exist_ok=True)
    for split, number in (("train", 60), ("val", 4), ("test", 4)):
        rows = [draw.choices(WORDS, k=draw.randint(2, 6)) for _ in range(number)]
        (folder / f"{split}.en").write_text("".join(" ".join(row) + "\n" for row in rows))
        (folder / f"{split}.fr").write_text("".join(" ".join(row[::-1]) + "\n" for row in rows))
    return folder


def flags(data: Path, **others: Any) -> dict[str, Any]:
    return {"data": Source(str(data)), **FLAGS, **others}


def plan(**others: Any) -> dict[str, Any]:
    return {**PLAN, **others}


def trained(data: Path, out: Path, *, others: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """Train in this process: options of `run`, and flags of the plan."""
    ours = {name: options.pop(name) for name in list(options) if name in ("resume", "overwrite", "start", "like")}
    ours |= {"tokenizer": options.pop("tokenizer")} if "tokenizer" in options else {}
    return run("translate", flags(data, **(others or {})), plan(**options), out=out, **ours)


def words(data: Path, out: Path, **others: Any) -> list[str]:
    """Return the command that trains."""
    given = {"data": data, **FLAGS, **PLAN, "out": out, **others}
    return ["train", "translate", *(f"--{name.replace('_', '-')}={value}" for name, value in given.items())]


def told(run: Path) -> dict[str, Any]:
    """Return everything that a run folder says, file by file, but for times."""
    found: dict[str, Any] = {}
    for path in sorted(run.rglob("*")):
        name = str(path.relative_to(run))
        if path.is_dir() or name == ".lock":
            continue
        if path.name.startswith("events."):
            assert "events" not in found, "one file of events is enough"
            found["events"] = events(path)
        elif path.suffix == ".jsonl":
            found[name] = [timeless(json.loads(line)) for line in path.read_text().splitlines()]
        elif path.suffix == ".json":
            found[name] = timeless(json.loads(path.read_text()))
        else:
            found[name] = path.read_bytes()
    return found


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: timeless(inner) for name, inner in value.items() if name not in TIMES | ELSE}
    return value


def events(path: Path) -> list[tuple[int, str, float]]:
    """Return step, name and value of every event, read by TensorBoard."""
    found = []
    for event in EventFileLoader(str(path)).Load():
        for value in event.summary.value:
            number = value.tensor.float_val[0] if value.HasField("tensor") else value.simple_value
            found.append((event.step, value.tag, number))
    return found


def log(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
