"""What the program says of itself, and how quickly: help and listings import nothing that a run needs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from regard import recipes
from tests.conftest import Regard

COMMANDS = [["--help"], ["recipes"], ["train", "--help"], ["train", "tide", "--help"], ["show", "tide", "--help"]]
COMMANDS += [[name, "--help"] for name in ("demo", "translate", "evaluate", "data", "show")]

TIDE = '''"""Predict the tide from the moon (seaside lecture).

Moon, two CPU cores: 3 s, error 0.1.    regard train tide
Moon and sun, two CPU cores: 5 s, error 0.05.    regard train tide --bodies both
"""

import a_module_that_is_not_there
from regard.data.source import SCENES, Source

Bodies = Literal["moon", "both"]
TABLE = a_module_that_is_not_there.table()


def recipe(
    data: Source = SCENES,
    *,
    bodies: Bodies = "moon",  # what pulls at the water
    layers: int | None = None,  # how deep
    tied: bool = True,  # one table for both
    final: bool = False,
) -> Recipe:
    return Recipe(data, bodies, layers, tied, final)
'''


@pytest.fixture
def tide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of recipes that holds one, which cannot be imported."""
    monkeypatch.setattr(recipes, "FOLDER", tmp_path)
    (tmp_path / "__init__.py").touch()
    file = tmp_path / "tide.py"
    file.write_text(TIDE, encoding="utf-8")
    return file


def test_recipes_are_listed_from_their_docstrings(tide: Path, regard: Regard) -> None:
    (listed,) = json.loads(regard("recipes", "--json").out)
    assert listed == {
        "name": "tide",
        "summary": "Predict the tide from the moon (seaside lecture).",
        "lecture": "seaside lecture",
        "measured": [
            {"result": "Moon, two CPU cores: 3 s, error 0.1.", "command": "regard train tide"},
            {
                "result": "Moon and sun, two CPU cores: 5 s, error 0.05.",
                "command": "regard train tide --bodies both",
            },
        ],
    }
    people = regard("recipes").out
    assert "tide" in people
    assert "error 0.05." in people


def test_help_of_a_recipe_shows_its_flags_and_those_of_every_run(tide: Path, regard: Regard) -> None:
    answer = regard("train", "tide", "--help")
    assert answer.code == 0
    for words in ["Predict the tide", "--bodies", "what pulls at the water", "moon, both", "--no-tied", "how deep"]:
        assert words in answer.out
    for flag in ["--data", "--columns", "--skip-bad", "--steps", "--out", "--from", "--like", "--overwrite", "--debug"]:
        assert flag in answer.out
    assert "--no-final" not in answer.out


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_and_listings_are_printed_without_anything_heavy(words: list[str], tide: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from regard import cli, recipes
recipes.FOLDER = Path({str(tide.parent)!r})
code = cli.main({words!r})
heavy = {{"torch", "numpy", "tokenizers", "sacrebleu", "matplotlib", "regard.open"}} & sys.modules.keys()
sys.exit(f"imported {{heavy}}" if heavy else code)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_every_recipe_of_the_package_can_be_described(regard: Regard) -> None:
    for name in recipes.names():
        answer = regard("train", name, "--help")
        assert (answer.code, answer.err) == (0, "")


def test_a_command_without_what_it_needs_shows_help_and_fails(tide: Path, regard: Regard) -> None:
    assert regard("train").code == 2
    assert regard("data").code == 2
    assert regard().code == 0


def test_version_is_that_of_the_package(regard: Regard) -> None:
    import regard as package

    assert regard("--version").out.strip() == package.__version__
