"""Where the development data lies, for tests that read it."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("REGARD_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def shared_data(*parts: str) -> Path:
    """Return a file of the development data, or skip the test and say what is missing."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"development data {'/'.join(parts)} is absent; set REGARD_DATA to its folder")
    return path
