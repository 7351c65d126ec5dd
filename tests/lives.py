"""Trainers that die. Each life is a process of its own, forked from one that has imported everything already.

Asked for, a life ends by a signal: after some seconds, or at one of its operations on the run's files.
"""

import json
import mmap
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, NoReturn, Self

ROOT = Path(__file__).parent.parent
OPERATIONS = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate"}


class Life(NamedTuple):
    """How a life ended: its exit code (negative: the signal), what it wrote, and what it did."""

    code: int
    out: str
    err: str
    seconds: float
    operations: int
    """Operations on files of the run folder: opened, flushed, renamed, removed, cut."""


class Lives:
    """A process that waits for words, and lets another live and die for them."""

    def __init__(self, *within: str) -> None:
        paths = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
        self.process = subprocess.Popen(
            [*within, sys.executable, "-m", "tests.lives"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        )

    def live(
        self,
        words: Sequence[str],
        *,
        watched: Path | None = None,
        end: int = signal.SIGKILL,
        after: float | None = None,
        at: int | None = None,
        largest: int | None = None,
    ) -> Life:
        """Call the command line. `end` comes `after` seconds, or `at` an operation on the `watched` folder's files;
        `largest` is how many bytes a file may have."""
        asked = {"words": [*words], "watched": str(watched or ROOT / "nothing"), "end": int(end)}
        return Life(*self.ask({**asked, "after": after, "at": at, "largest": largest}))

    def ask(self, request: dict[str, Any]) -> Any:
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        assert answer, "the process that lets others live has died"
        return json.loads(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.process.communicate()


def main() -> None:
    """Answer each request with how that life went."""
    from regard.training import curves, events, run  # noqa: F401 (imported once, for every life)

    for line in sys.stdin:
        request = json.loads(line)
        if "shell" in request:
            print(json.dumps(subprocess.run(request["shell"], shell=True).returncode), flush=True)  # noqa: S602
            continue
        count = mmap.mmap(-1, 8)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            begin = time.monotonic()
            child = os.fork()
            if not child:
                live(request, count, out.fileno(), err.fileno())
            code = awaited(child, request["after"], request["end"])
            seconds = time.monotonic() - begin
            said = [os.pread(file.fileno(), 1 << 20, 0).decode() for file in (out, err)]
        print(json.dumps([code, *said, seconds, int.from_bytes(count[:8], "little")]), flush=True)


def awaited(child: int, after: float | None, end: int) -> int:
    """Return how a process ended, by itself or by a signal after some seconds."""
    deadline = None if after is None else time.monotonic() + after
    while True:
        done, status = os.waitpid(child, os.WNOHANG if deadline else 0)
        if done:
            return os.waitstatus_to_exitcode(status)
        if deadline and time.monotonic() >= deadline:
            os.kill(child, end)
            deadline = None
        time.sleep(0.001)


def live(request: dict[str, Any], count: mmap.mmap, out: int, err: int) -> NoReturn:
    code = 70
    try:
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if request["largest"]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (request["largest"], resource.RLIM_INFINITY))
        watch(request, count)
        from regard.cli import main

        code = main(request["words"])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def watch(request: dict[str, Any], count: mmap.mmap) -> None:
    """Count the operations on the files of a folder, and send the signal at the one that was asked for."""

    def tick() -> None:
        number = int.from_bytes(count[:8], "little") + 1
        count[:8] = number.to_bytes(8, "little")
        if number == request["at"]:
            os.kill(os.getpid(), request["end"])

    def noticed(event: str, arguments: tuple[Any, ...]) -> None:
        named = event in OPERATIONS and isinstance(arguments[0], str | os.PathLike)
        if named and os.fspath(arguments[0]).startswith(request["watched"]):
            tick()

    flushed = os.fsync

    def fsync(handle: Any) -> None:
        tick()
        flushed(handle)

    os.fsync = fsync  # type: ignore[assignment]  # it also takes files, of which there are none here
    sys.addaudithook(noticed)


if __name__ == "__main__":
    main()
