"""Signatures become flags: a recipe file is read as text, so that help needs none of what the recipe imports.

    def recipe(
        data: Source = SCENES,
        *,
        layers: int = 4,  # encoder and decoder layers
    ) -> Recipe:

has the flags --data, --columns, --skip-bad (a Source is three) and --layers; the comment at the end of a parameter's
line is its help. Annotations may use int, float, str, bool, Literal, `| None`, Source, and what the file itself
assigns from these. The commands of cli.py are written the same way.
"""

import ast
import contextlib
import inspect
import io
import textwrap
import tokenize
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

from cyclopts import Group, Parameter, Token

from regard.data import source
from regard.data.source import SCENES, Source
from regard.training import plan
from regard.training.plan import Plan

THIS_RECIPE = Group("This recipe", sort_key=1)
EVERY_RUN = Group("Every run (not given: what the recipe says)", sort_key=2)
THIS_COMMAND = Group("This command", sort_key=3)

Function = Callable[..., Any]


class Flag(NamedTuple):
    """What the command line needs to know of one parameter."""

    name: str
    type: Any
    default: Any
    help: str = ""


class Description(NamedTuple):
    """A recipe as the command line sees it."""

    name: str
    text: str
    flags: list[Flag]


def describe(name: str, file: Path) -> Description:
    """Return a recipe's docstring and flags. The file is parsed, never imported."""
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text, str(file))
    function = find(tree, "recipe")
    if function is None:
        raise ValueError(f"{file} has no function named recipe; a recipe is one: def recipe(data: Source = SCENES, …)")
    names, helps, flags = constants(tree), comments(text, function), []
    for argument, default in with_defaults(function.args):
        if argument.annotation is None or default is None:
            raise ValueError(f"{file}, line {argument.lineno}: {argument.arg} needs a type and a default to be a flag")
        form, value = (evaluated(node, names, file) for node in (argument.annotation, default))
        flags.append(Flag(argument.arg, form, value, helps.get(argument.arg, "")))
    return Description(name, ast.get_docstring(tree) or "", flags)


def search_flags(folder: Path) -> list[Flag]:
    """Return --search and the options of every search in the folder; each says which searches have it."""
    searches: list[str] = []
    options: dict[str, Flag] = {}
    for file in sorted(folder.glob("*.py")):
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text, str(file))
        function = find(tree, "search")
        if function is None:
            continue
        searches.append(file.stem)
        names, helps = constants(tree), comments(text, function)
        for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
            with contextlib.suppress(NameError):  # a type that no flag has: an option for Python only
                form, value = (evaluate(node, names) for node in (argument.annotation, default) if node is not None)
                known = options.get(argument.arg, Flag(argument.arg, form, value, helps.get(argument.arg, "")))
                options[argument.arg] = known._replace(help=f"{known.help} ({file.stem})".strip())
    choice = Flag("search", Literal[tuple(searches)] | None, None, "how the words are chosen")
    return [choice, *options.values()]


def find(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    """Return a function of a module by its name."""
    return next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name), None)


def with_defaults(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """Return the parameters of a function, each with its default."""
    ordered = [*arguments.posonlyargs, *arguments.args]
    without = [None] * (len(ordered) - len(arguments.defaults))
    defaults = [*without, *arguments.defaults, *arguments.kw_defaults]
    return list(zip([*ordered, *arguments.kwonlyargs], defaults, strict=True))


def comments(text: str, function: ast.FunctionDef) -> dict[str, str]:
    """Return the comment at the end of each parameter's line."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}
    ends = {argument.arg: (default or argument).end_lineno for argument, default in with_defaults(function.args)}
    if function.args.vararg:
        ends[function.args.vararg.arg] = function.args.vararg.end_lineno
    return {name: lines[line] for name, line in ends.items() if line in lines}


def constants(tree: ast.Module) -> dict[str, Any]:
    """Return what annotations and defaults may name: the types of flags, and what the file assigns from them."""
    names: dict[str, Any] = {"Literal": Literal, "Source": Source, "SCENES": SCENES}
    names["__builtins__"] = {"int": int, "float": float, "str": str, "bool": bool}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                names[node.targets[0].id] = evaluate(node.value, names)
            except Exception:  # it needs what the file imports: the recipe's own business
                continue
    return names


def evaluate(node: ast.expr, names: dict[str, Any]) -> Any:
    """Return the value of an expression that uses these names only."""
    return eval(compile(ast.Expression(node), "<flags>", "eval"), names)  # noqa: S307 – a file of this package


def evaluated(node: ast.expr, names: dict[str, Any], file: Path) -> Any:
    """Return the value of an annotation or a default, or say why it is not known."""
    try:
        return evaluate(node, names)
    except Exception as error:
        raise ValueError(
            f"{file}, line {node.lineno}: {ast.unparse(node)} is not known without importing the recipe ({error}); "
            "write a literal, or a constant of the same file"
        ) from error


def field_flags(form: type, module: Any) -> list[Flag]:
    """Return the fields of a dataclass as flags; the string under a field is its help."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == form.__name__)
    helps = {}
    for field, below in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            helps[ast.unparse(field.target)] = str(below.value.value)
    return [Flag(field.name, field.type, field.default, helps.get(field.name, "")) for field in fields(form)]


class Bundle(NamedTuple):
    """A parameter of a command that is several flags for the user; `made` puts together those that were given."""

    flags: list[Flag]
    group: Group | None = None
    made: Callable[[dict[str, Any]], Any] = dict
    always: bool = True
    """Whether it is passed on when no flag of it was given."""


def command(
    act: Function,
    text: str = "",
    fixed: dict[str, Any] | None = None,
    bundles: dict[str, Bundle] | None = None,
) -> Function:
    """Return a function as a command: the comments of its parameters are their help.

    A `fixed` parameter is no flag, a bundle is several, and so is a Source: where the data is, its columns, what a bad
    line means. Only what the user gives is passed on.
    """
    fixed, bundles = fixed or {}, dict(bundles or {})
    helps = comments(*source_of(act))
    shown: list[inspect.Parameter] = []
    for name, given in inspect.signature(act).parameters.items():
        if Source in (given.annotation, *get_args(given.annotation)):
            bundles[name] = source_bundle(name, given.default or SCENES, helps.get(name))
        if name in bundles:
            shown += [parameter(flag, bundles[name].group) for flag in bundles[name].flags]
        elif name not in fixed:
            shown.append(helped(given, helps.get(name)))

    def run(*words: Any, **given: Any) -> Any:
        made = {}
        for name, several in bundles.items():
            flags = {flag.name: given.pop(flag.name) for flag in several.flags if flag.name in given}
            if flags or several.always:
                made[name] = several.made(flags)
        return act(*words, **given, **made, **fixed)

    run.__name__, run.__doc__ = act.__name__, text or "\n\n".join(paragraphs(act))
    run.__signature__ = inspect.Signature(sorted(shown, key=lambda given: given.kind))  # type: ignore[attr-defined]
    return run


def paragraphs(act: Function) -> list[str]:
    """Return the docstring of a function, each paragraph on one line: help is as wide as its reader's screen."""
    return [" ".join(part.split()) for part in (act.__doc__ or "").split("\n\n")]


def source_of(act: Function) -> tuple[str, ast.FunctionDef]:
    """Return the text of a function, and the same parsed."""
    text = textwrap.dedent(inspect.getsource(act))
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    return text, function


def source_bundle(name: str, default: Source, text: str | None) -> Bundle:
    """Return a Source as flags: its place has the name of the parameter."""
    flags = [flag._replace(default=getattr(default, flag.name)) for flag in field_flags(Source, source)]
    place = flags[0]
    flags[0] = place._replace(name=name, help=text or place.help)

    def made(given: dict[str, Any]) -> Source:
        return replace(default, **{place.name if flag == name else flag: value for flag, value in given.items()})

    return Bundle(flags, made=made, always=False)


def bundle(flags: list[Flag], group: Group) -> Bundle:
    """Return flags as one parameter, a dictionary; a Source among them is several."""
    sources = {flag.name: source_bundle(flag.name, flag.default, flag.help) for flag in flags if flag.type is Source}
    flat = [inner for flag in flags for inner in (sources[flag.name].flags if flag.name in sources else [flag])]

    def made(given: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, several in sources.items():
            own = {flag.name: given.pop(flag.name) for flag in several.flags if flag.name in given}
            values |= {name: several.made(own)} if own else {}
        return values | given

    return Bundle(flat, group, made)


def every_run() -> Bundle:
    """Return the flags that every recipe has. Their defaults are the recipe's, so none is shown."""
    return bundle([flag._replace(default=None) for flag in field_flags(Plan, plan)], EVERY_RUN)


def parameter(flag: Flag, group: Group | None = None) -> inspect.Parameter:
    """Return a flag as the parameter of a command."""
    plain = inspect.Parameter(flag.name, inspect.Parameter.KEYWORD_ONLY, default=flag.default, annotation=flag.type)
    return helped(plain, flag.help, group)


def helped(given: inspect.Parameter, text: str | None = None, group: Group | None = None) -> inspect.Parameter:
    """Return a parameter as the command line shows it: a fact that is false at first has no default worth showing."""
    default = given.default
    shown: dict[str, Any] = {"help": text, "show_default": not (default is None or default is False or default == "")}
    shown |= {"group": group} if group else {}
    shown |= {"negative": f"--no-{given.name.replace('_', '-')}"} if default is True else {}
    shown |= {"converter": whole} if int in (given.annotation, *get_args(given.annotation)) else {}
    return given.replace(annotation=Annotated[given.annotation, Parameter(**shown)])


def whole(form: Any, tokens: Sequence[Token]) -> int:
    """Return a whole number; the library itself would round 1.5."""
    return int(tokens[0].value)
