"""TensorBoard's events: the log, drawn for that program.

They are written by the same thread that trains: what goes wrong, such as a full disk, is an error here and now.
"""

import os
import time
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter


class Events:
    """The event file of a run; earlier ones are replaced by it."""

    def __init__(self, folder: Path, lines: list[dict[str, Any]]) -> None:
        for path in folder.glob("events.*"):
            path.unlink()
        self.path = folder / f"events.out.tfevents.{int(time.time()):010d}.{os.getpid()}"
        self.records = RecordWriter(self.path.open("wb"))
        self.write(file_version="brain.Event:2")
        for line in lines:
            self.add(line)

    def add(self, line: dict[str, Any]) -> None:
        """Add a line of the log: every score of training and validation, and the learning rate."""
        scalars = {f"{part}/{name}": value for part in ("train", "val") for name, value in line[part].items()}
        values = [
            Summary.Value(tag=name, simple_value=value)
            for name, value in {**scalars, "rate": line["rate"]}.items()
            if value is not None
        ]
        self.write(step=line["step"], summary=Summary(value=values))

    def write(self, **event: Any) -> None:
        self.records.write(Event(wall_time=time.time(), **event).SerializeToString())
        self.records.flush()

    def close(self) -> None:
        self.records.close()
