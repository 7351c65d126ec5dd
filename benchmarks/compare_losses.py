"""Train two versions for a few steps and compare their losses: a change that is meant to change nothing changes none.

    python benchmarks/compare_losses.py reverse                       # the last commit, and the files as they are
    python benchmarks/compare_losses.py translate --before v1 --after v2 --steps 50
    python benchmarks/compare_losses.py translate --after-flags "--norm pre" --before HEAD --after HEAD

A version is whatever git knows by name, or `.` for the files as they are. Every flag of `regard train` can be given,
to both versions or to one. The exit code is 0 if no loss differs by more than --tolerance, else 1.
"""

import argparse
import io
import json
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
# Validation takes most of the time of a look, and says nothing about training.
TRAIN = """
import sys
from regard.cli import main
from regard.metrics.score import Score
from regard.training import run

def quick(*of):
    recipe = load(*of)
    recipe.task.evaluate = lambda *_, **options: {"none": Score(0.0)}
    recipe.task.show = lambda *_: []
    return recipe

load, run.load = run.load, quick
sys.exit(main(sys.argv[1:]))
"""


class Step(NamedTuple):
    """What one update of a version came to."""

    losses: dict[str, float]
    speed: float


def unpacked(version: str, folder: Path) -> Path:
    """Return the root of a version, written to a folder unless it is the one at hand."""
    if version == ".":
        return ROOT
    archive = subprocess.run(["git", "archive", version, "src"], cwd=ROOT, capture_output=True)
    if archive.returncode:
        sys.exit(f"git has no version {version!r} with a folder src: {archive.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def trained(root: Path, words: list[str], out: Path) -> list[Step]:
    """Return the steps of a version."""
    command = [sys.executable, "-c", TRAIN, "train", *words, "--look-every", "1", "--out", str(out)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(root / "src")}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(words)} with {root}:\n{done.stderr}")
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    return [Step(line["train"], line["tokens_per_second"]) for line in lines]


def told(before: list[Step], after: list[Step]) -> float:
    """Print the losses side by side, and return the largest difference."""
    largest = 0.0
    for number, (old, new) in enumerate(zip(before, after, strict=True), 1):
        for name in old.losses:
            difference = abs(new.losses[name] - old.losses[name])
            largest = max(largest, difference)
            print(f"{number:5}  {name:8}  {old.losses[name]:.9f}  {new.losses[name]:.9f}  {difference:.1e}")
    return largest


def main() -> int:
    """Compare, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recipe")
    parser.add_argument("--before", default="HEAD", help="a version that git knows, or . for the files as they are")
    parser.add_argument("--after", default=".", help="the version that is compared with it")
    parser.add_argument("--steps", type=int, default=20, help="how many updates are compared")
    parser.add_argument("--flags", default="", help="flags of `regard train` for both, in one string")
    parser.add_argument("--before-flags", default="", help="more of them for the first alone")
    parser.add_argument("--after-flags", default="", help="more of them for the second alone")
    parser.add_argument("--tolerance", type=float, default=0.0, help="the largest difference that is none")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sides = []
        for side in ("before", "after"):
            version, own = getattr(given, side), getattr(given, f"{side}_flags")
            words = [given.recipe, "--steps", str(given.steps), *shlex.split(f"{given.flags} {own}")]
            sides.append(trained(unpacked(version, Path(folder, side)), words, Path(folder, f"{side}.run")))
    print(f" step  loss      {given.before + ' ' + given.before_flags:12} {given.after} {given.after_flags}")
    largest = told(*sides)
    speeds = [sorted(step.speed for step in side)[len(side) // 2] for side in sides]
    print(f"largest difference {largest:.1e}; median speed {speeds[0]:,.0f}/s and {speeds[1]:,.0f}/s")
    return int(largest > given.tolerance)


if __name__ == "__main__":
    sys.exit(main())
