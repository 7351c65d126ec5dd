"""Words become flags, and what cannot be one is said in a sentence, with exit code 2."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from regard import flags, recipes
from regard.data.source import Source
from regard.training import run as training
from tests.conftest import Regard

RECIPE = '''"""A recipe to try flags on."""
Size = Literal["tiny", "big"]
LONGEST = 16

def recipe(
    data: Source = Source("other"),
    *,
    size: Size = "tiny",  # how large
    layers: int | None = None,
    rates: float = 0.5,
    score: str = "scaled",  # scaled or dot, # and a second thought
    tied: bool = True,
    longest: int = LONGEST,
) -> Recipe: ...
'''


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of recipes that holds one, toy.py."""
    monkeypatch.setattr(recipes, "FOLDER", tmp_path)
    file = tmp_path / "toy.py"
    file.write_text(RECIPE, encoding="utf-8")
    return file


@pytest.fixture
def passed_on(toy: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What training is asked for, instead of training."""
    calls: list[dict[str, Any]] = []

    def run(name: str, own: dict[str, Any], plan: dict[str, Any], **others: Any) -> dict[str, Any]:
        calls.append({"name": name, "own": own, "plan": plan, **others})
        return {"run": str(others["out"])}

    monkeypatch.setattr(training, "run", run)
    return calls


def test_a_recipe_file_is_a_list_of_flags(toy: Path) -> None:
    described = flags.describe("toy", toy)
    assert described.text == "A recipe to try flags on."
    assert described.flags == [
        ("data", Source, Source("other"), ""),
        ("size", Literal["tiny", "big"], "tiny", "how large"),
        ("layers", int | None, None, ""),
        ("rates", float, 0.5, ""),
        ("score", str, "scaled", "scaled or dot, # and a second thought"),
        ("tied", bool, True, ""),
        ("longest", int, 16, ""),
    ]


def test_only_what_is_given_is_passed_on(passed_on: list[dict[str, Any]], regard: Regard) -> None:
    assert regard("train", "toy").code == 0
    assert regard("train", "toy", "--layers", 2, "--no-tied", "--steps=7", "--look-every", 3, "--out", "x/y").code == 0
    left = {"resume": False, "overwrite": False, "start": None, "tokenizer": None, "like": None}
    assert passed_on == [
        {"name": "toy", "own": {}, "plan": {}, "out": Path("runs/toy"), **left},
        {
            "name": "toy",
            "own": {"layers": 2, "tied": False},
            "plan": {"steps": 7, "look_every": 3},
            "out": Path("x/y"),
            **left,
        },
    ]


def test_what_equals_the_default_counts_as_given(passed_on: list[dict[str, Any]], regard: Regard) -> None:
    regard("train", "toy", "--size", "tiny", "--tied")
    assert passed_on[0]["own"] == {"size": "tiny", "tied": True}


def test_the_three_flags_of_a_source_are_one_value(passed_on: list[dict[str, Any]], regard: Regard) -> None:
    regard("train", "toy", "--data", "corpus", "--skip-bad")
    regard("train", "toy", "--columns", "2,1")
    assert [call["own"] for call in passed_on] == [
        {"data": Source("corpus", skip_bad=True)},
        {"data": Source("other", columns="2,1")},
    ]


def test_where_a_run_starts_is_passed_on(passed_on: list[dict[str, Any]], regard: Regard) -> None:
    regard("train", "toy", "--from", "a", "--like", "b", "--tokenizer", "c", "--resume")
    call = passed_on[0]
    assert [call[name] for name in ("start", "like", "tokenizer", "resume")] == ["a", "b", "c", True]


def test_an_unknown_flag_names_the_nearest_and_lists_all(toy: Path, regard: Regard) -> None:
    answer = regard("train", "toy", "--layer", "3")
    assert (answer.code, answer.out) == (2, "")
    first, own, *others = answer.err.splitlines()
    assert first == "unknown flag --layer for recipe 'toy'; did you mean --layers?"
    assert own == "  this recipe: data, columns, skip-bad, size, layers, rates, score, tied, longest"
    assert others[0].startswith("  every run: steps, batch, accumulate, rate,")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("train toy --layers x", "--layers is 'x', but must be a whole number"),
        ("train toy --layers 1.5", "--layers is '1.5', but must be a whole number"),
        ("train toy --rates x", "--rates is 'x', but must be a number"),
        ("train toy --tied=x", "--tied is 'x', but must be true or false"),
        ("train toy --size huge", "--size is 'huge', but must be one of tiny, big"),
        ("train toy --precision float16", "--precision is 'float16', but must be one of float32, bfloat16"),
        ("train toy --layers", "--layers needs a value, a whole number"),
        ("train toy --layers 1 --layers 2", "--layers is given twice"),
        ("train toy extra", "regard train toy has no use for extra; regard train toy --help says more"),
        ("train toy --resume --overwrite", "--resume goes on with a run and --overwrite replaces it; give one of them"),
        ("train tov", "unknown recipe 'tov'; did you mean toy?\n  recipes: toy"),
        (
            "train --steps 3 toy",
            "regard train needs a recipe first: regard train RECIPE --steps …; the recipes are toy",
        ),
        ("show tov", "unknown recipe 'tov'; did you mean toy?\n  recipes: toy"),
        ("trian toy", "unknown command 'trian'; did you mean train?"),
        ("data scene", "unknown regard data command 'scene'; did you mean scenes?"),
        ("translate", "regard translate needs RUN; regard translate --help says more"),
        ("translate run --bem 5", "unknown flag --bem for 'regard translate'; did you mean --beam?"),
        ("translate run --search bem text", "--search is 'bem', but must be one of beam, greedy, sample"),
        ("translate run text --beam 5 --sample", "the flags name several searches: beam, sample; give one of them"),
        ("translate run text --beam 5 --width 6", "--beam N is short for --search beam --width N; give one of them"),
        ("translate run text --input x", "there are texts on the command line and --input x; give one of them"),
        ("evaluate run --beam five", "--beam is 'five', but must be a whole number"),
    ],
)
def test_wrong_usage_is_one_sentence_and_ends_with_2(words: str, sentence: str, toy: Path, regard: Regard) -> None:
    answer = regard(*words.split())
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(sentence)
    assert "Traceback" not in answer.err


def test_a_default_that_needs_an_import_is_refused_with_its_line(toy: Path) -> None:
    toy.write_text("from somewhere import DEPTH\n\ndef recipe(*, layers: int = DEPTH): ...\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"toy\.py, line 3: DEPTH is not known without importing the recipe"):
        flags.describe("toy", toy)


def test_a_file_without_a_recipe_is_refused(toy: Path) -> None:
    toy.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="has no function named recipe"):
        flags.describe("toy", toy)


def test_failures_are_one_sentence_and_debug_shows_where(
    passed_on: list[dict[str, Any]], regard: Regard, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error, sentence in [
        (ValueError("the corpus is empty; give another --data"), "the corpus is empty; give another --data\n"),
        (FileNotFoundError(2, "No such file or directory", "a.en"), "a.en: no such file or directory\n"),
        (KeyError("surprise"), "KeyError: 'surprise' (not expected; --debug shows where it comes from)\n"),
    ]:

        def fail(*words: Any, error: Exception = error, **flags: Any) -> None:
            raise error

        monkeypatch.setattr(training, "run", fail)
        assert regard("train", "toy") == (1, "", sentence)
        shown = regard("train", "toy", "--debug")
        assert shown.code == 1
        assert shown.err.startswith("Traceback")
        assert shown.err.endswith(sentence)


def test_json_stands_alone_on_standard_output(passed_on: list[dict[str, Any]], regard: Regard) -> None:
    answer = regard("train", "toy", "--json")
    assert json.loads(answer.out) == {"run": "runs/toy"}
    assert answer.out.count("\n") == 1
