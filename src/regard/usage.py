"""What was wrong with the words of a command, in one sentence that says what to write instead."""

import difflib
import textwrap
from collections.abc import Iterable
from typing import Literal, get_args, get_origin

from cyclopts import (
    App,
    Argument,
    CoercionError,
    CycloptsError,
    Group,
    MissingArgumentError,
    RepeatArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from regard.flags import EVERY_RUN, THIS_RECIPE

# How the flags of a recipe are listed where one is unknown; what has no place here belongs to the command.
SHORT = {THIS_RECIPE.name: "this recipe", EVERY_RUN.name: "every run"}
EXPECTED = {int: "a whole number", float: "a number", bool: "true or false"}


class WrongUsage(ValueError):
    """Words that do not go together; the program ends with 2."""


def explained(error: CycloptsError, app: App) -> str:
    """Return what the user reads about words that could not be understood."""
    command = " ".join([app.name[0], *(error.command_chain or [])])
    match error:
        case UnknownOptionError():
            return unknown_flag(error, command)
        case UnknownCommandError():
            word = (error.unused_tokens or [""])[0]
            known = [name for name in error.app or () if not name.startswith("-")]
            kind = "command" if command == app.name[0] else "recipe" if "train" in command else f"{command} command"
            if kind == "recipe" and word.startswith("-"):
                return f"{command} needs a recipe first: {command} RECIPE {word} …; the recipes are {', '.join(known)}"
            return unknown(kind, word, known)
        case CoercionError(token=token) if token is not None:
            form = error.argument.hint if error.argument else error.target_type
            return f"{token.keyword or label(error)} is {token.value!r}, but must be {expected(form)}"
        case MissingArgumentError(keyword=keyword) if keyword:
            return f"{keyword} needs a value, {expected(error.argument.hint if error.argument else None)}"
        case MissingArgumentError():
            return f"{command} needs {label(error)}; {command} --help says more"
        case RepeatArgumentError():
            return f"{error.token.keyword} is given twice"
        case UnusedCliTokensError():
            return f"{command} has no use for {' '.join(error.unused_tokens or [])}; {command} --help says more"
        case _:
            return f"{command}: {error}"


def unknown_flag(error: UnknownOptionError, command: str) -> str:
    """Return the nearest flag, and all there are: those of the recipe apart from those of every run."""
    flag = (error.token.keyword or error.token.value).split("=")[0]
    groups: dict[str, list[str]] = {}
    for argument in error.argument_collection:
        if argument.name.startswith("--"):
            groups.setdefault(group_of(argument), []).append(argument.name.removeprefix("--"))
    nearest = near(flag, [f"--{name}" for names in groups.values() for name in names])
    of = f"recipe {command.split()[-1]!r}" if "every run" in groups else f"{command!r}"
    lists = [f"{group}: {', '.join(names)}" for group, names in groups.items()]
    return "\n".join([f"unknown flag {flag} for {of}{nearest}", *side_by_side(lists)])


def group_of(argument: Argument) -> str:
    """Return the heading under which a flag is listed."""
    groups = argument.parameter.group
    several = groups if isinstance(groups, tuple) else (groups,)
    return next(
        (SHORT[group.name] for group in several if isinstance(group, Group) and group.name in SHORT), "this command"
    )


def unknown(kind: str, word: str, known: Iterable[str]) -> str:
    """Return that there is no such command, recipe or search, with the nearest name and all of them."""
    known = list(known)
    return "\n".join([f"unknown {kind} {word!r}{near(word, known)}", *side_by_side([f"{kind}s: {', '.join(known)}"])])


def near(word: str, known: list[str]) -> str:
    """Return the question whether the nearest name was meant, if one is near."""
    nearest = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {nearest[0]}?" if nearest else ""


def side_by_side(lists: list[str], width: int = 110) -> list[str]:
    """Return lists on one line where they fit, otherwise below each other."""
    together = "      ".join(lists)
    if len(together) <= width:
        return [f"  {together}"]
    return [textwrap.fill(text, width, initial_indent="  ", subsequent_indent="    ") for text in lists]


def label(error: CycloptsError) -> str:
    """Return the name of the argument that an error is about."""
    return error.argument.name if error.argument else "a value"


def expected(form: object) -> str:
    """Return in words what a value of this type looks like."""
    forms = [form, *get_args(form)]
    for choice in forms:
        if get_origin(choice) is Literal:
            return f"one of {', '.join(map(str, get_args(choice)))}"
    return next((text for kind, text in EXPECTED.items() if kind in forms), "text")
