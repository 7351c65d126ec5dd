"""What a recipe is made of, and how it is found by its name."""

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from regard.tasks.task import Task
from regard.training.plan import Plan


class Recipe(NamedTuple):
    """A task, a function from the task's sizes to a model, and how to train it."""

    task: Task
    build: Callable[[dict[str, int]], nn.Module]
    plan: Plan


def load(name: str, flags: dict[str, Any]) -> Recipe:
    """Return the recipe of a file in `recipes/`, with these flags."""
    make = function(name)
    unknown = sorted(set(flags) - set(inspect.signature(make).parameters))
    if unknown:
        raise ValueError(f"recipe {name!r} has no flag {unknown[0]!r}; was the run made by another version?")
    recipe: Recipe = make(**flags)
    return recipe


def settled(name: str, flags: dict[str, Any]) -> dict[str, Any]:
    """Return all flags of a recipe, those not given with their defaults: a run outlives a change of these."""
    return {
        flag: flags.get(flag, known.default) for flag, known in inspect.signature(function(name)).parameters.items()
    }


def function(name: str) -> Callable[..., Recipe]:
    """Return the function of a recipe's file."""
    recipes = Path(__file__).parent.parent / "recipes"
    known = sorted(path.stem.replace("_", "-") for path in recipes.glob("[a-z]*.py"))
    if name not in known:
        raise ValueError(f"there is no recipe {name!r}; there are: {', '.join(known)}")
    make: Callable[..., Recipe] = importlib.import_module(f"regard.recipes.{name.replace('-', '_')}").recipe
    return make
