"""Words → a function call → a printed result: the program `regard`."""

import contextlib
import inspect
import io
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Group, Parameter

import regard
from regard import commands, flags, recipes
from regard.training.interruption import Interrupted
from regard.usage import WrongUsage, explained

DEBUG = inspect.Parameter(
    "debug",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, Parameter(help="show where an error comes from", show_default=False)],
)


def main(words: list[str] | None = None) -> int:
    """Run a command and return the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted, 143 terminated."""
    words = sys.argv[1:] if words is None else words
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", newline="\n")
    app, debug = program(words), False
    try:
        with terminable():
            command, bound, _ = app.parse_args(words, print_error=False, exit_on_error=False)
            debug = bound.arguments.pop("debug", False)
            command(*bound.args, **bound.kwargs)
            print(end="", flush=True)
        helped = getattr(command, "__name__", "") == "help_print"
        return 2 if helped and words and not {"--help", "-h"} & {*words} else 0
    except CycloptsError as error:
        return failed(explained(error, app), 2)
    except BrokenPipeError:
        # Whoever reads has had enough. What is still in the buffer would complain once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Interrupted as stop:
        return failed(str(stop), 128 + stop.signal)
    except KeyboardInterrupt:
        return failed("interrupted", 130)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else failed(str(stop.code), 1)
    except Exception as error:
        if debug:
            traceback.print_exc()
        return failed(sentence(error), 2 if isinstance(error, WrongUsage) else 1)


def program(words: list[str]) -> App:
    """Return the program. Of what has a command for each recipe, only what the words need is built."""
    app = App(
        name="regard",
        help="Train, run and look inside the attention systems of the lectures.",
        version=regard.__version__,
        help_format="plaintext",
        default_parameter=Parameter(negative=()),
    )
    data = App(name="data", help="Write the embedded data to files; say what is wrong in a user's files.")
    data.command(offered(commands.data_scenes), name="scenes")
    data.command(offered(commands.data_inspect), name="inspect")
    searches = flags.bundle(flags.search_flags(Path(__file__).parent / "decoding"), Group("Search", sort_key=3))
    app.command(offered(commands.demo), name="demo")
    app.command(offered(commands.list_recipes), name="recipes")
    app.command(of_recipes("show", commands.show, words, commands.show_run))
    app.command(of_recipes("train", commands.train, words))
    app.command(offered(commands.translate, bundles={"options": searches}), name="translate")
    app.command(offered(commands.evaluate), name="evaluate")
    app.command(data)
    return app


def of_recipes(name: str, act: flags.Function, words: list[str], otherwise: flags.Function | None = None) -> App:
    """Return a command that has a command for each recipe; where the words name one, the others are not read."""
    app = App(name=name, help=inspect.getdoc(act))
    if otherwise:
        app.default(offered(otherwise))
    if words[:1] == [name]:
        every, known = flags.every_run(), recipes.names()
        for recipe in [word for word in words[1:2] if word in known] or known:
            described = flags.describe(recipe, recipes.file(recipe))
            own = flags.bundle(described.flags, flags.THIS_RECIPE)
            app.command(offered(act, described.text, {"name": recipe}, {"own": own, "plan": every}), name=recipe)
    return app


def offered(act: flags.Function, *more: Any, **others: Any) -> flags.Function:
    """Return a function as a command that also has --debug, which `main` keeps for itself."""
    command = flags.command(act, *more, **others)
    signature = inspect.signature(command)
    offer = signature.replace(parameters=[*signature.parameters.values(), DEBUG])
    command.__signature__ = offer  # type: ignore[attr-defined]
    return command


def sentence(error: Exception) -> str:
    """Return an error in one sentence: ours say what to do, those of the system name their file."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror[:1].lower()}{error.strerror[1:]}"
    if isinstance(error, ValueError | OSError):
        return str(error)
    return f"{type(error).__name__}: {error} (not expected; --debug shows where it comes from)"


def failed(text: str, code: int) -> int:
    """Say on standard error what went wrong, and return the exit code."""
    print(text, file=sys.stderr)
    return code


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM ends the program with 143, as it would by itself, but in order: files are closed."""

    def terminate(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, terminate)
    except ValueError:  # not the main thread, which alone may listen to signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
