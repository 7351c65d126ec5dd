"""What all tests share: quiet arithmetic, unhurried properties, and the command line called as a user calls it."""

import os
from collections.abc import Callable
from typing import NamedTuple

# Before torch is imported: test processes run side by side, so each keeps to one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import pytest

from regard.cli import main

# Shared machines pause at any time: no example is too slow. What failed once is printed so that it can be repeated.
hypothesis.settings.register_profile("regard", deadline=None, print_blob=True)
hypothesis.settings.load_profile("regard")


class Answer(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


Regard = Callable[..., Answer]


@pytest.fixture
def regard(capsys: pytest.CaptureFixture[str]) -> Regard:
    """Return the program: regard("train", "reverse") runs it in this process."""

    def run(*words: object) -> Answer:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Answer(code, *capsys.readouterr())

    return run
