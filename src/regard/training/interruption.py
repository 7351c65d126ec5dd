"""SIGINT and SIGTERM: the step in progress ends, the run is saved, and the program leaves."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Self


class Interrupted(Exception):
    """A signal ended the run; everything is saved."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}; everything is saved")
        self.signal = number


class Interruption:
    """Notices the first signal instead of dying of it; a second one has its usual effect."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.before: dict[int, object] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self  # only the main thread may listen to signals
        for number in (signal.SIGINT, signal.SIGTERM):
            self.before[number] = signal.signal(number, self.notice)
        return self

    def notice(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        self.__exit__(None, None, None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def leave(self) -> None:
        """Raise Interrupted if a signal came."""
        if self.signal is not None:
            raise Interrupted(self.signal)
