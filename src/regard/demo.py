"""The first minutes: train a small translator on the embedded data, score it, translate with it, say what comes next.

The number of updates is fixed, so a slow machine gets the same translator later.
"""

from pathlib import Path
from typing import Any, NamedTuple

from regard.data.source import SCENES
from regard.metrics.score import Score
from regard.open import open as opened
from regard.training.files import read_json
from regard.training.run import run

SOURCE, TARGET = "en", "fr"
FLAGS = {"source": SOURCE, "target": TARGET}
PLAN = {"steps": 1000, "batch": 1500, "rate": 4e-3, "look_every": 1000}
EXAMPLES = 5


class Example(NamedTuple):
    """A held-out sentence, its reference, and what the demo's translator makes of it."""

    source: str
    reference: str
    translation: str


class Demo(NamedTuple):
    """What came out of the demo."""

    run: str
    seconds: float
    scores: dict[str, Score]
    examples: list[Example]
    next: list[str]


def demo(out: Path) -> Demo:
    """Train the demo's translator in a folder, replacing an earlier demo, and return what came out."""
    refuse_other_runs(out)
    trained = run("translate", dict(FLAGS), dict(PLAN), out=out, overwrite=True)
    system = opened(out)
    scores = system.evaluate("test")["scores"]
    pairs = SCENES.parallel(SOURCE, TARGET).pairs("test")
    shown = pairs[:: len(pairs) // EXAMPLES + 1][:EXAMPLES]
    outputs = system.translate([pair.source for pair in shown])
    examples = [Example(pair.source, pair.target, output) for pair, output in zip(shown, outputs, strict=True)]
    return Demo(str(out), trained["seconds"], scores, examples, suggestions(out, examples[0].source))


def refuse_other_runs(out: Path) -> None:
    """Leave a folder alone that holds another run than a demo."""
    record = out / "run.json"
    if not record.exists():
        return
    found: dict[str, Any] = read_json(record)
    if (found.get("recipe"), found.get("flags")) != ("translate", FLAGS):
        raise ValueError(
            f"{out} holds a run that is no demo; give the demo a folder of its own: regard demo --out FOLDER"
        )


def suggestions(out: Path, sentence: str) -> list[str]:
    """Return commands that go on from here."""
    return [
        f'regard translate {out} "{sentence}"',
        f"regard evaluate {out} --alignments",
        f"regard show {out}",
        "regard train translate --target de",
        "regard train translate --data FOLDER --source en --target de",
    ]


def told(found: Demo) -> str:
    """Return what came out, for people."""
    lines = [f"Trained in {found.seconds:.0f} s on embedded data, {SOURCE} → {TARGET}. On combinations never seen:"]
    lines += [f"  {name:24} {score.value:6.2f}  {score.signature}".rstrip() for name, score in found.scores.items()]
    for example in found.examples:
        lines += ["", f"  source       {example.source}", f"  reference    {example.reference}"]
        lines += [f"  translation  {example.translation}"]
    lines += ["", f"The run folder is {found.run}. What to try next:", *(f"  {command}" for command in found.next)]
    return "\n".join(lines)
