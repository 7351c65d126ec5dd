"""A run folder: everything that a run is, in files that others can read.

    run.json          recipe, flags, plan, data fingerprints, versions, how long, scores
    config.json       recipe, flags and sizes: enough to rebuild the model without the data
    tokenizer.json    what the task saves to answer without the data
    model.safetensors the best or averaged parameters
    log.jsonl         one object a look; TensorBoard events are drawn from it
    samples.txt       outputs that a person can judge
    curves.png        loss and score against step
    checkpoints/      what a run needs to go on
    refused/          batches whose gradient was not finite

Every file appears whole or not at all, but for the growing ones: these are cut back to the last checkpoint.
"""

import contextlib
import fcntl
import json
import os
import sys
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from regard.tasks.task import Sample, Task
from regard.training import files

GROWING = ("log.jsonl", "samples.txt")
# What is there of a run before its run.json is: nothing that anybody would miss.
LEFT_BEHIND = (".lock", ".run.json.part")


class RunFolder:
    """The files of one run, written by one process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints = path / "checkpoints"
        self.events: Any = None
        self.lock: Any = None

    # One trainer at a time.

    def exists(self) -> bool:
        return (self.path / "run.json").exists()

    def refuse_others(self) -> None:
        """Refuse a folder with something else than a run in it, which a new run would remove."""
        if self.path.is_dir() and not self.exists():
            others = sorted(path.name for path in self.path.iterdir() if path.name not in LEFT_BEHIND)
            if others:
                raise ValueError(f"{self.path} holds no run, but {', '.join(others[:3])}; choose another --out")

    def take(self) -> None:
        """Make the folder this process's own; a second trainer is refused."""
        self.path.mkdir(parents=True, exist_ok=True)
        lock = (self.path / ".lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise ValueError(
                f"another process is training in {self.path}; wait for it, or choose another --out"
            ) from None
        self.lock = lock

    def release(self) -> None:
        """Let go of the folder, whatever the events say: a full disk is told once."""
        if self.events is not None:
            with contextlib.suppress(OSError):
                self.events.close()
        if self.lock is not None:
            self.lock.close()

    # The beginning.

    def begun(self) -> bool:
        """Whether config.json is there, which a run writes when everything else is."""
        return (self.path / "config.json").exists()

    def begin(self, record: dict[str, Any], task: Task) -> dict[str, str]:
        """Remove an earlier run, write run.json and what the task saves, and return the SHA-256 of its files."""
        # Its run.json stays until the new one takes its place: a run folder is one at every instant.
        for path in list(self.path.iterdir()):
            if path.name not in (".lock", "run.json"):
                files.discard(path)
        files.write_json(self.path / "run.json", record)
        aside = self.path / ".task.part"
        aside.mkdir()
        with files.naming(self.path):
            task.save(aside)
        names = sorted(path.name for path in aside.iterdir())
        for name in names:
            files.flush(aside / name)
            (aside / name).replace(self.path / name)
        aside.rmdir()
        return {name: files.sha256(self.path / name) for name in names}

    # What grows: the log and the samples.

    def log(self, line: dict[str, Any]) -> None:
        """Add a look to the log and to TensorBoard's events."""
        line = files.finite(line)
        self.append("log.jsonl", json.dumps(line, ensure_ascii=False) + "\n")
        with files.naming(self.events.path):
            self.events.add(line)

    def lines(self) -> list[dict[str, Any]]:
        """Return the looks so far."""
        path = self.path / "log.jsonl"
        if not path.exists():
            return []
        try:
            return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        except ValueError as reason:
            raise ValueError(f"{path} is damaged ({reason}); remove it to go on without the looks so far") from None

    def write_samples(self, step: int, samples: list[Sample]) -> None:
        parts = [f"== step {step}\n"]
        for sample in samples:
            parts.append(f"    {sample.source}\n  → {sample.output}\n")
            parts.append(f"  = {sample.reference}\n" if sample.reference else "")
        self.append("samples.txt", "".join(parts) + "\n")

    def append(self, name: str, text: str) -> None:
        with files.naming(self.path / name), (self.path / name).open("a", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def lengths(self) -> dict[str, int]:
        """Return the size of each growing file."""
        return {name: (self.path / name).stat().st_size for name in GROWING if (self.path / name).exists()}

    def cut_back(self, lengths: dict[str, int]) -> None:
        """Cut growing files back to what they were at a checkpoint, and draw the events anew from the log."""
        for name in GROWING:
            path, length = self.path / name, lengths.get(name, 0)
            if path.exists():
                if path.stat().st_size < length:
                    raise ValueError(f"{path} is damaged: its end is missing; remove it to go on without it")
                os.truncate(path, length)
        for aside in [*self.path.glob(".*.part"), *self.checkpoints.glob(".*.part")]:
            files.discard(aside)  # what a stop left half written
        from regard.training.events import Events  # only training needs that library

        self.events = Events(self.path, self.lines())

    def draw(self) -> None:
        from regard.training.curves import draw  # matplotlib takes most of a second to import

        if self.lines():
            files.whole(self.path / "curves.png", lambda aside: draw(self.lines(), aside))

    # The parameters.

    def write_parameters(self, model: nn.Module) -> None:
        path = self.path / "model.safetensors"
        files.whole(path, lambda aside: files.write_tensors(aside, dict(model.named_parameters())))

    def put(self, model: nn.Module, tensors: dict[str, Tensor]) -> None:
        files.put(model, tensors, self.checkpoints)

    # What went wrong.

    def keep_refused(self, step: int, batches: list[Any]) -> Path:
        """Write the batches of a refused update, for inspection."""
        path = self.path / "refused" / f"step-{step:08d}.safetensors"
        path.parent.mkdir(exist_ok=True)
        tensors = {f"{n}/{name}": x for n, batch in enumerate(batches) for name, x in batch.tensors().items()}
        files.whole(path, lambda aside: files.write_tensors(aside, tensors))
        return path

    def warn(self, sentence: str) -> None:
        print(sentence, file=sys.stderr, flush=True)


def restore(task: Task, path: Path) -> None:
    """Give a task back what a run saved of it; a file that is not what was saved is named and refused."""
    for name, saved in files.read_json(path / "config.json").get("files", {}).items():
        file = path / name
        if not file.exists():
            raise ValueError(f"{file} is missing: {path} is damaged")
        if files.sha256(file) != saved:
            raise ValueError(f"{file} is damaged: its SHA-256 is not the recorded one")
    task.restore(path)
