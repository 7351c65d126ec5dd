"""The house stands: imports go one way, help needs nothing heavy, every recipe and every command of the README runs."""

import ast
import io
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cache, partial
from itertools import takewhile
from pathlib import Path
from types import FrameType
from typing import Any, get_args

import pytest
import sacrebleu

import regard as package
from regard import flags, recipes
from regard.training.recipe import function, load
from tests.conftest import Regard
from tests.runs import trained, written

HOUSE = Path(package.__file__).parent
FILES = sorted(HOUSE.rglob("*.py"))
README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")

# Who may import whom, beside itself; arrows are transitive. A dotted name stands apart from its package: a contract or
# a description that others may know although they may not know the rest.
ARROWS = {
    "__main__": ["cli"],
    "cli": ["commands", "flags", "usage"],
    "commands": ["demo", "open", "look", "training", "recipes", "data", "decoding", "stream", "printing", "usage"],
    "demo": ["open", "training"],
    "usage": ["flags"],
    "flags": ["data.source", "training.plan"],
    "serve": ["open", "look", "training"],
    "bench": ["open", "look", "training"],
    "open": ["recipes", "training"],
    "recipes": ["tasks", "models", "data", "training.plan", "training.recipe"],
    "training": ["tasks.task", "metrics.score", "training.plan", "training.recipe", "data.source"],
    "training.recipe": ["tasks.task", "training.plan"],
    "training.plan": [],
    "tasks": ["tasks.task", "data", "decoding", "metrics", "trace"],
    "tasks.task": ["metrics.score"],
    "models": ["layers", "attention", "state"],
    "interop": ["models"],
    "look": ["trace"],
    "layers": ["attention"],
    "attention": ["trace"],
    "decoding": ["state"],
    "data": ["data.source", "data.corpus"],
    "data.corpus": [],
    "data.source": ["data"],
    "metrics": ["metrics.score", "data.corpus"],
    "metrics.score": [],
    "state": [],
    "stream": [],
    "printing": [],
    "trace": [],
    "": [],
}


def module(file: Path) -> str:
    """Return the name of a module within the package: attention.core."""
    return ".".join(file.relative_to(HOUSE).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


def room(name: str) -> str:
    """Return the nearest name of the map: attention.core is in attention, training.plan stands by itself."""
    while name and name not in ARROWS:
        name = name.rpartition(".")[0]
    return name


@cache
def below(name: str) -> frozenset[str]:
    """Return what a room may import: what its arrows reach."""
    reached, left = {name}, list(ARROWS[name])
    while left:
        following = left.pop()
        if following not in reached:
            reached.add(following)
            left += ARROWS[following]
    return frozenset(reached)


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """Yield line and name of every module of the package that a file imports, wherever in the file it does so."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "regard":
            within = (node.module or "").removeprefix("regard").removeprefix(".")
            for alias in node.names:
                whole = f"{within}.{alias.name}".removeprefix(".")
                found = HOUSE.joinpath(*whole.split("."))
                yield node.lineno, whole if found.is_dir() or found.with_suffix(".py").exists() else within
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name[7:]) for alias in node.names if alias.name.startswith("regard."))


@pytest.mark.parametrize("file", FILES, ids=module)
def test_imports_go_one_way(file: Path) -> None:
    if file == HOUSE / "__init__.py":
        pytest.skip("the package offers `open` when it is asked for, and imports nothing")
    here = room(module(file))
    assert here, f"{file} is in no room of the map; give it one in style.md and in ARROWS"
    for line, name in imports(file):
        there = room(name)
        assert there in below(here), (
            f"{file.relative_to(HOUSE)}, line {line}: {here} may not import {there or name}. "
            f"From {here} the arrows lead to: {', '.join(sorted(below(here) - {here})) or 'nothing'}."
        )


def test_the_map_has_no_circle() -> None:
    # data and data.source are one room with a light door: a Source is all that help and signatures need.
    for name in set(ARROWS) - {"data", "data.source"}:
        assert not any(name in below(lower) for lower in ARROWS[name]), f"{name} is reached from below itself"


@pytest.mark.parametrize("file", [file for file in FILES if file.read_text(encoding="utf-8").strip()], ids=module)
def test_every_module_says_what_it_is_about(file: Path) -> None:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    assert text, f"{file} has no docstring"


@pytest.mark.parametrize("statement", ["import regard", "import regard.cli"])
def test_importing_the_command_line_imports_nothing_heavy(statement: str) -> None:
    heavy = "torch numpy tokenizers sacrebleu safetensors matplotlib rich.console"
    code = f"{statement}; import sys; print(*(name for name in '{heavy}'.split() if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_open_is_a_function_whatever_was_imported_before() -> None:
    code = "import regard.open, regard; assert callable(regard.open) and regard.open is regard.open.__globals__['open']"
    subprocess.run([sys.executable, "-c", code], check=True)


# Recipes and commands, on next to no data.

# Flags that make any recipe small, where it has them.
SMALL = {"layers": 1, "width": 16, "inner": 32, "heads": 2, "vocabulary": 300}
BRIEF = {"steps": 2, "look-every": 2, "save-every": 2, "batch": 64, "threads": 1}
FEW = {"train": 60, "val": 4, "test": 4}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The data that recipes bring along, with a few pairs in each split."""
    from regard.data.digits import Digits
    from regard.data.scenes import Scenes

    monkeypatch.setattr("regard.data.scenes.Scenes", partial(Scenes, **FEW))
    monkeypatch.setattr("regard.recipes._digits.Digits", partial(Digits, **FEW))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return written(tmp_path / "pairs")


def own(recipe: str) -> dict[str, flags.Flag]:
    """Return the flags of a recipe by their names."""
    return {flag.name: flag for flag in flags.describe(recipe, recipes.file(recipe)).flags}


def spelt(given: dict[str, Any]) -> list[str]:
    return [f"--{name}={value}" for name, value in given.items()]


def small(recipe: str) -> dict[str, Any]:
    return BRIEF | {name: value for name, value in SMALL.items() if name in own(recipe)}


@pytest.mark.parametrize("recipe", recipes.names())
def test_every_recipe_trains_saves_opens_and_answers(
    recipe: str, data: Path, tmp_path: Path, few: None, regard: Regard
) -> None:
    out = tmp_path / "run"
    where = {"data": data} if "data" in own(recipe) else {}
    done = regard("train", recipe, "--out", out, "--json", *spelt(small(recipe) | where))
    assert done.code == 0, done.err
    assert json.loads(done.out)["steps"] == 2
    system = package.open(out)
    verb, source = next(iter(system.task.verbs)), system.task.show(system.model)[0].source
    (answer,) = getattr(system, verb)([source])
    assert isinstance(answer, str)


def another(flag: flags.Flag) -> Any:
    """Return another default for a flag; a text, a path and what is None stay as they are."""
    choices = get_args(flag.type)
    if isinstance(flag.default, bool):
        return not flag.default
    if isinstance(flag.default, int | float):
        return flag.default * 2
    return choices[choices.index(flag.default) - 1] if flag.default in choices else flag.default


@pytest.mark.parametrize("recipe", recipes.names())
def test_a_run_outlives_a_change_of_its_recipes_defaults(
    recipe: str, data: Path, tmp_path: Path, few: None, regard: Regard, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, described = tmp_path / "run", own(recipe)
    where = {"data": data} if "data" in described else {}
    assert regard("train", recipe, "--out", out, *spelt(BRIEF | where)).code == 0
    before = package.open(out)
    texts = [sample.source for sample in before.task.show(before.model)]
    shapes = [parameter.shape for parameter in before.model.parameters()]
    changed = {name: another(flag) for name, flag in described.items() if flag.default != another(flag)}
    make = function(recipe)
    defaults = make.__kwdefaults__
    assert defaults
    monkeypatch.setattr(make, "__kwdefaults__", {**defaults, **changed})
    # The recipe would make another model now, which the run's parameters do not fit.
    model = load(recipe, {}).build(before.task.sizes() | {"source_vocabulary": 16})
    assert [parameter.shape for parameter in model.parameters()] != shapes
    after = package.open(out)
    assert [parameter.shape for parameter in after.model.parameters()] == shapes
    verb = next(iter(before.task.verbs))
    assert getattr(after, verb)(texts) == getattr(before, verb)(texts)


@pytest.fixture
def timer() -> Iterator[None]:
    """An end to what would not end: 20 seconds of the processor, however busy the machine is."""

    def over(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("20 seconds of computing are over")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, 20)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.fixture(scope="module")
def rewriter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned a little, on data whose val and test are parts of train: its BLEU is not zero."""
    folder = tmp_path_factory.mktemp("rewriter")
    pairs = written(folder / "pairs")
    for file in pairs.glob("train.*"):
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        for split, part in (("val", lines[:20]), ("test", lines[20:40])):
            file.with_stem(split).write_text("".join(part), encoding="utf-8")
    trained(pairs, folder / "run", steps=120, rate=0.02, look_every=120, save_every=120, average="none")
    return folder


@pytest.mark.parametrize("split", ["train", "val", "test"])
def test_evaluate_prints_the_bleu_of_what_it_writes(
    split: str, rewriter: Path, tmp_path: Path, timer: None, regard: Regard
) -> None:
    file = tmp_path / "outputs"
    done = regard("evaluate", rewriter / "run", "--split", split, "--json", "--output", file)
    assert done.code == 0, done.err
    outputs = file.read_text(encoding="utf-8").split("\n")[:-1]
    references = (rewriter / "pairs" / f"{split}.fr").read_text(encoding="utf-8").split("\n")[:-1]
    bleu = sacrebleu.corpus_bleu(outputs, [references]).score
    # The outputs differ, and an order other than that of the references has another BLEU.
    assert 0 < bleu != sacrebleu.corpus_bleu(outputs[1:] + outputs[:1], [references]).score
    told = json.loads(done.out)
    assert told["split"] == split
    # The same sums by the same library, so no rounding lies between them.
    assert told["scores"]["bleu"]["value"] == pytest.approx(bleu, abs=1e-9)


# What the README says.


def commands() -> list[list[str]]:
    """Return the words of every command in what the README sets as code, in order; a line that goes on is one."""
    fenced, found = False, []
    for line in README.replace("\\\n", "").splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            said = re.findall(r"^(?:\$ |.*\| )?(regard .*)", line.strip())
            found += [shlex.split(command, comments=True)[1:] for command in said]
    return found


def shortened(words: list[str]) -> list[str]:
    """Return a command that soon ends: training with flags that make it small, whatever it says of these."""
    if words[0] != "train":
        return words
    given = small(words[1])
    kept = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if before.removeprefix("--") not in given and word.partition("=")[0].removeprefix("--") not in given
    ]
    return [*kept, *spelt(given)]


def test_every_command_of_the_readme_runs(
    data: Path, tmp_path: Path, few: None, regard: Regard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one two\nthree\n")))
    for file in data.glob("*.fr"):
        shutil.copy(file, file.with_suffix(".de"))
    shutil.copytree(data, "mydata")
    shutil.copy(data / "test.en", "letters.en")
    found = commands()
    assert len(found) > 8
    for words in found:
        if words[0] == "demo":
            continue  # `make demo` runs it
        done = regard(*shortened(words))
        assert done.code == 0, f"regard {shlex.join(words)}: {done.err}"
    (example,) = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    exec(example, {})  # noqa: S102 – a page of this repository


@pytest.mark.parametrize("row", re.findall(r"^\| `regard .*", README, re.MULTILINE))
def test_every_command_of_the_readmes_tables_has_its_flags(row: str, regard: Regard) -> None:
    words = re.findall(r"`regard (.*?)`", row)[0].split()
    command = list(takewhile(re.compile("[a-z][a-z-]*").fullmatch, words))
    helped = regard(*command, *(["reverse"] if command in (["train"], ["show"]) else []), "--help")
    assert helped.code == 0, helped.err
    # Every command that computes something takes --json.
    assert {"--json", *re.findall(r"--[a-z-]+", row)} <= {*re.findall(r"--[a-z-]+", helped.out)}
