"""What the documents say is so: the tour prints what it shows, the examples of adding.md work, every link leads on."""

import ast
import doctest
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import regard as package
from regard import flags
from regard.attention import Score, masks, positions, scores, softmax
from regard.attention.masks import Mask
from regard.data.lines import Ask, Bad, Row
from regard.decoding.contract import Hypotheses, Limits
from tests.conftest import Regard
from tests.small import noise
from tests.toys import END, PAD, START, Toy, starts

REPOSITORY = Path(__file__).resolve().parents[1]
DOCS = REPOSITORY / "docs"
PAGES = [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md"))]
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)|^\[[^]]+\]: (\S+)", re.MULTILINE)
NAMED = re.compile(r"\]\((\.\./src/[^)]+\.py)\)((?:,?[ \n]`\w+`)+)")


def blocks(page: str, language: str) -> list[str]:
    """Return the blocks of a page that are in a language."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


# What pages point to.


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    for one, other in LINK.findall(page.read_text(encoding="utf-8")):
        place = one or other
        assert "://" in place or (page.parent / place).exists(), place


def test_what_a_stop_of_the_tour_names_is_defined_in_its_file() -> None:
    found = NAMED.findall((DOCS / "tour.md").read_text(encoding="utf-8"))
    assert len(found) > 40
    for place, names in found:
        assert set(re.findall(r"\w+", names)) <= defined(DOCS / place), place


def defined(file: Path) -> set[str]:
    """Return what a file defines: functions, methods, classes, and what it assigns at its top."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    named = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assigned = {name.id for node in tree.body for name in ast.walk(node) if isinstance(name, ast.Name)}
    return named | assigned


# The tour.


def test_the_tour_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = DOCS / "tour.md"
    # One session; empty lines for everything between its blocks keep the numbers of the page's lines.
    inside, session = False, []
    for line in page.read_text(encoding="utf-8").splitlines():
        inside = line == "```pycon" or (inside and line != "```")
        session.append(line if inside and line != "```pycon" else "")
    test = doctest.DocTestParser().get_doctest("\n".join(session), {}, page.name, str(page), 0)
    said: list[str] = []
    done = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert done.attempted > 30
    assert not done.failed, "".join(said)


@pytest.mark.slow
def test_the_tour_ends_in_its_translation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, regard: Regard) -> None:
    monkeypatch.chdir(tmp_path)
    exec(blocks("tour.md", "pycon")[0].replace(">>> ", "").replace("... ", ""), {})  # noqa: S102 – writes two files
    train, translate = (block.replace("\\\n", "").splitlines() for block in blocks("tour.md", "console"))
    # One thread of arithmetic each: tests run side by side.
    assert regard(*shlex.split(train[0])[2:], "--threads", 1).code == 0
    told = regard(*shlex.split(translate[0])[2:]).out
    # The score and the links depend on the processor's rounding, the text does not.
    assert told.split(" ||| ")[0] == translate[1].split(" ||| ")[0]


# The examples of adding.md.

EXAMPLES = {Path(block.split()[2]): block for block in blocks("adding.md", "python") if block.startswith("# file: ")}


def example(place: str) -> dict[str, Any]:
    """Return what an example defines; where its file exists, the example goes on from what is there."""
    file = Path("src/regard", place)
    within = importlib.import_module(".".join(file.with_suffix("").parts[1:])) if (REPOSITORY / file).exists() else None
    names = {**(vars(within) if within else {}), "__name__": "example"}
    exec(compile(EXAMPLES[file], str(file), "exec"), names)  # noqa: S102 – a page of this repository
    return names


@pytest.fixture(autouse=True)
def scores_stay_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Score, "named", dict(Score.named))


def test_there_is_an_example_of_everything() -> None:
    kinds = {file.parts[2] for file in EXAMPLES}
    assert kinds == {"attention", "data", "decoding", "models", "recipes", "tasks"}


def test_the_score_is_a_score() -> None:
    made = example("attention/scores.py")["Diagonal"](2, 4, 4)
    assert scores.find("diagonal") is type(made)
    q, k = noise(3, 2, 5, 4), noise(3, 2, 6, 4, seed=1)
    weights = softmax(made(q, made.keys(k)))
    assert weights.shape == (3, 2, 5, 6)
    # Sums of six float32 numbers below one.
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 2, 5), atol=1e-6, rtol=0)
    # All places count alike before anything is learned: it begins as the scaled dot product.
    torch.testing.assert_close(made(q, made.keys(k)), scores.ScaledDot(2, 4, 4)(q, k), atol=1e-6, rtol=0)


def test_the_mask_is_a_mask() -> None:
    every = example("attention/masks.py")["Every"]
    assert issubclass(every, Mask)
    seen = masks.visible(every(2) & masks.causal, 3, 4, None, None, torch.device("cpu"))
    assert seen is not None
    assert seen[0, 0].int().tolist() == [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1]]


def test_the_positions_are_positions() -> None:
    binary = example("attention/positions.py")["Binary"](4)
    assert binary.width == 4
    assert binary(torch.tensor([[0, 1, 6]])).tolist() == [[[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0]]]
    assert binary(torch.tensor([[5]])).dtype == positions.Sinusoidal(4)(torch.tensor([[5]])).dtype


def test_the_search_is_a_search() -> None:
    search = example("decoding/min_p.py")["search"]
    toy, limits = Toy(), Limits([5, 1, 9], END, (PAD, START))
    found: Hypotheses = search(toy.step, toy.start([0, 1, 2]), starts([0, 1, 2]), limits)
    for sentence, (one,) in enumerate(found):
        assert one.ids[-1] == END
        assert one.score == pytest.approx(toy.score(sentence, one.ids), abs=1e-5)
    greedy = importlib.import_module("regard.decoding.greedy").search
    surest = search(toy.step, toy.start([0, 1, 2]), starts([0, 1, 2]), limits, min_p=1.0)
    assert surest == greedy(toy.step, toy.start([0, 1, 2]), starts([0, 1, 2]), limits)


def test_the_reader_reads(tmp_path: Path) -> None:
    file = tmp_path / "train.bitext"
    file.write_text("a dog ||| ein Hund\na cat\n", encoding="utf-8")
    row, bad = example("data/readers/bitext.py")["read"](file, Ask("en", "de"))
    assert isinstance(row, Row)
    assert row.pair == ("a dog", "ein Hund")
    assert isinstance(bad, Bad)
    assert bad.line == 2


def test_the_recipe_is_a_list_of_flags(tmp_path: Path) -> None:
    file = tmp_path / "largest.py"
    file.write_text(EXAMPLES[Path("src/regard/recipes/largest.py")], encoding="utf-8")
    described = flags.describe("largest", file)
    assert [(flag.name, flag.type, flag.default) for flag in described.flags] == [
        ("longest", int, 16),
        ("layers", int, 2),
        ("width", int, 64),
        ("heads", int, 4),
        ("score", str, "scaled"),
    ]
    assert all(flag.help for flag in described.flags)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Path]:
    """A copy of the package in which every example stands where its first line says."""
    there = tmp_path / "src/regard"
    shutil.copytree(Path(package.__file__).parent, there, ignore=shutil.ignore_patterns("__pycache__"))
    for file, text in EXAMPLES.items():
        with (tmp_path / file).open("a", encoding="utf-8") as stream:
            stream.write("\n\n" + text)
    yield tmp_path / "src"
    shutil.rmtree(there)


def test_a_new_file_is_all_that_a_new_thing_needs(house: Path) -> None:
    code = """
import regard
from regard import decoding, flags
from regard.attention import scores
from regard.cli import main
from regard.data.readers import formats

small = "--longest 4 --layers 1 --width 8 --heads 2 --score diagonal --steps 2 --batch 4 --threads 1".split()
assert main(["train", "largest", "--out", "run", *small]) == 0
assert set(*regard.open("run").classify(["3 1 4"])) <= set("0123456789")
assert main(["recipes"]) == main(["translate", "--help"]) == 0
assert "min_p" in decoding.names() and decoding.options("min_p") == {"min_p": 0.1, "seeds": None}
assert "diagonal" in scores.Score.named and "bitext" in formats()
"""
    command, settings = [sys.executable, "-c", code], {**os.environ, "PYTHONPATH": str(house)}
    done = subprocess.run(command, cwd=house, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "regard train largest" in done.stdout
    assert "--min-p" in done.stdout
