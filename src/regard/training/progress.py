"""How far training is: a bar on a terminal, one plain line every so often in a pipe. All of it on standard error."""

import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 30.0


class Display:
    """Shows steps, loss, rate and the time left."""

    def __init__(self, steps: int, done: int) -> None:
        self.steps, self.done = steps, done
        self.console = Console(stderr=True)
        self.began = self.printed = time.monotonic()
        self.first = done
        columns = (
            TextColumn("step {task.completed:.0f} of {task.total:.0f}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[what]}"),
            TimeRemainingColumn(),
        )
        self.bar = Progress(*columns, console=self.console, transient=True, disable=not self.console.is_terminal)
        self.task = self.bar.add_task("", total=steps, completed=done, what="")

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.bar.stop()

    def advance(self, step: int, sums: dict[str, float], counted: dict[str, int], seconds: float) -> None:
        """Show that a step is done; the means are over the steps since the last look."""
        what = ""
        if counted:
            name = next(iter(sums))
            what = f"{name} {sums[name] / counted[name]:.3f}  {max(counted.values()) / max(seconds, 1e-9):,.0f}/s"
        with suppress(BrokenPipeError):  # whoever watched has gone; training goes on
            self.show(step, what)

    def show(self, step: int, what: str) -> None:
        self.bar.update(self.task, completed=step, what=what)
        now = time.monotonic()
        if not self.console.is_terminal and now - self.printed >= SECONDS_BETWEEN_LINES:
            self.printed = now
            left = (now - self.began) / max(step - self.first, 1) * (self.steps - step)
            print(f"step {step} of {self.steps}  {what}  {left:.0f} s left", file=sys.stderr, flush=True)

    def report(self, line: dict[str, Any]) -> None:
        """Show what a look found."""
        scores = "  ".join(f"{name} {value:.4g}" for name, value in line["val"].items())
        means = "  ".join(f"{name} {value:.4g}" for name, value in line["train"].items())
        rate = f"{line['tokens_per_second']:,.0f}/s"
        text = f"step {line['step']}  train: {means}  val: {scores}  {rate}  {line['seconds']:.0f} s"
        with suppress(BrokenPipeError):
            self.console.print(text, highlight=False, soft_wrap=True)
