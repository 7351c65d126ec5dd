"""BLEU and chrF against the `sacrebleu` command on the same files."""

import gzip
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regard.metrics.text import bleu, chrf, exact, one_line
from tests.data import shared_data

REFERENCES = [
    "The small green star is to the left of the ball.",
    "He didn't see it, because it was too big (3.5 metres).",
    "",
    "Ein Mann mit einem orangefarbenen Hut starrt etwas an.",
    "Le drapeau est-il « rouge » ou bleu ?",
    "A &quot;quoted&quot; word, 1,000 times; state-of-the-art",
    "日本語の文 and emoji 🙂🙂 together",
    "two\u2028lines that are one, \x85 and a tab\there",
    "a lone \r within",
    "the same",
]
OUTPUTS = [
    "The small green star is left of the ball .",
    "he did not see it because it was big (3.5 metres).",
    "something where nothing was",
    "",
    "Le drapeau est-il « rouge » et bleu ?",
    'A "quoted" word, 1,000 times; State-of-the-art',
    "日本語の文 and emoji 🙂 together  ",
    "  two\u2028lines that are one, \x85 and a tab here\x0b",
    "a lone \r within\x1c",
    "the same",
]


def command(folder: Path, outputs: list[str], references: list[str], *flags: str) -> dict[str, Any]:
    """Return what the `sacrebleu` command prints, by the name of the metric."""
    for name, texts in (("outputs", outputs), ("references", references)):
        (folder / name).write_bytes("".join(one_line(text) + "\n" for text in texts).encode())
    arguments = ["references", "-i", "outputs", "-m", "bleu", "chrf", "--width", "12", *flags]
    done = subprocess.run([sys.executable, "-m", "sacrebleu", *arguments], cwd=folder, capture_output=True, check=True)
    return {score["name"]: score for score in json.loads(done.stdout)}


def assert_equal(folder: Path, outputs: list[str], references: list[str], lowercase: bool = False) -> None:
    printed = command(folder, outputs, references, *(["--lowercase", "--chrf-lowercase"] if lowercase else []))
    for name, metric in (("BLEU", bleu), ("chrF2", chrf)):
        score = metric(outputs, references, lowercase=lowercase)
        # The command prints twelve decimals.
        assert score.value == pytest.approx(printed[name]["score"], abs=1e-11)
        assert score.signature == printed[name]["signature"]


@pytest.mark.parametrize("lowercase", [False, True])
def test_scores_and_signatures_are_those_of_the_command(tmp_path: Path, lowercase: bool) -> None:
    assert_equal(tmp_path, OUTPUTS, REFERENCES, lowercase)


def test_lower_case_makes_a_difference() -> None:
    assert bleu(OUTPUTS, REFERENCES, lowercase=True).value > bleu(OUTPUTS, REFERENCES).value
    assert chrf(OUTPUTS, REFERENCES, lowercase=True).value > chrf(OUTPUTS, REFERENCES).value


def test_a_line_break_counts_as_the_space_that_is_written(tmp_path: Path) -> None:
    assert_equal(tmp_path, ["a line-\nbreak is here\n", "and not there"], ["a line- break is here", "and not\nthere"])


@pytest.mark.parametrize(
    ("outputs", "references"),
    [([""], [""]), ([""], ["something"]), (["something"], [""]), (["x"], ["x"]), (["x", ""], ["", "x"])],
)
def test_empty_and_tiny_texts_score_as_in_the_command(
    tmp_path: Path, outputs: list[str], references: list[str]
) -> None:
    assert_equal(tmp_path, outputs, references)


def test_multi30k_scores_as_in_the_command(tmp_path: Path) -> None:
    with gzip.open(shared_data("multi30k", "val.de.gz"), "rt", encoding="utf-8") as file:
        references = [line.rstrip("\n") for line in file][:300]
    chance = random.Random(1)
    outputs = []
    for reference in references:
        words = reference.split(" ")
        del words[chance.randrange(len(words))]
        outputs.append(" ".join(words))
    assert_equal(tmp_path, outputs, references)
    assert 50 < bleu(outputs, references).value < 95


def test_exact_is_the_fraction_of_identical_texts() -> None:
    assert exact(["a", "b", "c ", "d"], ["a", "b", "c", "D"]).value == 0.5


def test_as_many_outputs_as_references_are_needed() -> None:
    for metric in (bleu, chrf, exact):
        with pytest.raises(ValueError, match="1 outputs came for 2 references"):
            metric(["a"], ["a", "b"])
        with pytest.raises(ValueError, match="there is nothing to score"):
            metric([], [])
