"""The commands: the signature of a function is its flags, the comments in it are their help.

What a command needs is imported when it runs, so that help is quick. Results go to standard output, everything else
to standard error.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TextIO

from cyclopts import Parameter

from regard import recipes, stream, usage
from regard.data.source import Source
from regard.printing import answer, as_json, one_line
from regard.usage import WrongUsage


def demo(
    *,
    out: Path = Path("runs/demo"),  # the run folder; an earlier demo in it is replaced
    json: bool = False,  # print JSON alone on standard output
) -> None:
    """Train a small translator on the embedded data, score it, translate with it, and say what to try next."""
    from regard import demo

    found = demo.demo(out)
    print(as_json(found) if json else demo.told(found))


def list_recipes(
    *,
    json: bool = False,  # print JSON alone on standard output
) -> None:
    """List every system: what it is, what was measured, and the command that trains it."""
    listings = [recipes.listing(name) for name in recipes.names()]
    if json:
        print(as_json(listings))
        return
    for listing in listings:
        print(f"{listing.name}\n  {listing.summary}")
        for result, command in listing.measured or [recipes.Measured("", f"regard train {listing.name}")]:
            print(f"    {result:<56}  {command}" if result else f"    {command}")


def show_run(
    run: str,  # a run folder, or the name of a recipe
    /,
    *,
    json: bool = False,  # print JSON alone on standard output
) -> None:
    """Show what a recipe would build, or what a run is: sizes, parameters, plan, data."""
    if not Path(run, "run.json").is_file() and not Path(run).exists() and os.sep not in run:
        raise WrongUsage(usage.unknown("recipe", run, recipes.names()))
    from regard.training.run import show_run

    found = show_run(Path(run))
    answer(found, json)


def show(
    name: str,
    own: dict[str, Any],
    plan: dict[str, Any],
    *,
    json: bool = False,  # print JSON alone on standard output
) -> None:
    """Show what a recipe would build, or what a run is: sizes, parameters, plan, data."""
    from regard.training.run import show

    found = show(name, own, plan)
    answer(found, json)


def train(
    name: str,
    own: dict[str, Any],
    plan: dict[str, Any],
    *,
    out: Path | None = None,  # the run folder; runs/RECIPE unless given
    resume: bool = False,  # go on from the last checkpoint; with --steps N, on to step N
    overwrite: bool = False,  # replace the run that the folder holds
    start: Annotated[str | None, Parameter(name="--from")] = None,  # a run whose parameters and tokenizer to start with
    like: str | None = None,  # a run whose flags are repeated, where others are not given
    tokenizer: str | None = None,  # a tokenizer.json, or a run whose vocabulary is shared
    json: bool = False,  # print JSON alone on standard output
) -> None:
    """Train a recipe; a run folder comes out."""
    if resume and overwrite:
        raise WrongUsage("--resume goes on with a run and --overwrite replaces it; give one of them")
    from regard.training.run import run

    out = out or Path("runs", name)
    found = run(
        name, own, plan, out=out, resume=resume, overwrite=overwrite, start=start, tokenizer=tokenizer, like=like
    )
    answer(found, json)


def translate(
    run: str,  # a run folder
    /,
    *texts: str,  # what to translate; without it, the lines of --input or of standard input
    input: Path | None = None,  # a file of lines; - is standard input
    output: Path | None = None,  # a file for the translations, instead of standard output
    options: dict[str, Any],
    beam: int | None = None,  # short for --search beam --width N
    sample: bool = False,  # short for --search sample
    seed: int | None = None,  # what samples follow from
    prefix: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,  # what every translation begins with
    scores: bool = False,  # add the log-probability: text ||| score
    alignments: bool = False,  # add which source word each target word looks at, counted from 0: text ||| 0-0 2-1
    attention: str | None = None,  # the attention that aligns, such as decoder.layers.2.cross; unless given, a good one
    head: int | None = None,  # its head, counted from 0; the average of all unless given
    batch: int | None = None,  # texts that are translated together
    device: str = "cpu",  # where the model lives: cpu, cuda, cuda:1
    json: bool = False,  # print one JSON object a line
) -> None:
    """Translate texts, a file or standard input: one translation a line, in the order of the input.

    Lines are answered as they come. With --n-best N every text has up to N lines: line ||| text ||| score, lines
    counted from 0. A text that begins with a hyphen comes after --.
    """
    if texts and input:
        raise WrongUsage(f"there are texts on the command line and --input {input}; give one of them")
    if beam is not None and "width" in options:
        raise WrongUsage("--beam N is short for --search beam --width N; give one of them")
    alignments = alignments or attention is not None or head is not None
    given: dict[str, Any] = {"search": chosen(options.get("search"), beam, sample), "width": beam}
    given |= {"seed": seed, "batch": batch, "prefix": prefix, "attention": attention, "head": head}
    options |= {name: value for name, value in given.items() if value is not None}
    from regard.open import open as opened

    system = opened(run, device=device)
    system.translations([], **options)  # says what is wrong with the options before an output file is emptied
    number = 0
    with destination(output, input) as out:
        for chunk in [[valid(text) for text in texts]] if texts else waiting(input):
            for source, answers in zip(
                chunk, system.translations(chunk, **options, first=number, alignments=alignments), strict=True
            ):
                if json:
                    print(json_line(number, source, answers, alignments), file=out)
                else:
                    ranked = "n_best" in options
                    for answer in answers:
                        print(text_line(number if ranked else None, answer, scores, alignments), file=out)
                number += 1
            out.flush()


def evaluate(
    run: str,  # a run folder
    /,
    *,
    data: Source | None = None,  # other data than the run's own: a folder or a file
    split: str = "test",  # which part of the data
    beam: int = 5,  # how many hypotheses the search keeps; 1 is greedy
    alignments: bool = False,  # the alignment error rate of every layer and head as well
    output: Path | None = None,  # a file for the outputs, one a line
    device: str = "cpu",  # where the model lives: cpu, cuda, cuda:1
    json: bool = False,  # print JSON alone on standard output
) -> None:
    """Score a run on held-out data: its own, unless other data is given."""
    from regard.open import open as opened

    asked: dict[str, Any] = {"alignments": True} if alignments else {}
    found = opened(run, device=device).evaluate(split, data=data, beam=beam, outputs=output, **asked)
    answer({"run": run, **found}, json)


def data_scenes(
    out: Path,  # the folder that the files go to
    /,
    *,
    languages: str | None = None,  # en,fr,it,de: all of them unless given
    seed: int | None = None,  # what everything follows from
    train: int | None = None,  # pairs of the training data
    val: int | None = None,  # pairs of the validation data
    test: int | None = None,  # pairs of the test data
    overwrite: bool = False,  # replace what the folder holds
    json: bool = False,  # print JSON alone on standard output
) -> None:
    """Write the embedded data to files: SPLIT.LANG, SPLIT.L1-L2.align and SPLIT.jsonl."""
    from regard.data.scenes import write

    asked: dict[str, Any] = {"seed": seed, "train": train, "val": val, "test": test}
    asked["languages"] = languages.replace(" ", "").split(",") if languages else None
    given = {name: value for name, value in asked.items() if value is not None}
    answer({"files": write(out, overwrite=overwrite, **given)}, json)


def data_inspect(
    path: str,  # a folder, a file, hf:org/name, or scenes
    /,
    *,
    source: str = "en",  # the language that is read
    target: str = "fr",  # the language that is written
    columns: str = "",  # which columns or keys hold them: 1,2 or names
    json: bool = False,  # print JSON alone on standard output
) -> None:
    """Say what was recognised in parallel text, and what is wrong with it."""
    from regard.data.inspect import inspect

    report = inspect(Source(path, columns), source, target)
    print(as_json(report) if json else report)


# What the commands share.


def chosen(search: str | None, beam: int | None, sample: bool) -> str | None:
    """Return the search that is meant by --search, --beam and --sample."""
    names = {search, "beam" if beam is not None else None, "sample" if sample else None} - {None}
    if len(names) > 1:
        raise WrongUsage(f"the flags name several searches: {', '.join(sorted(map(str, names)))}; give one of them")
    return names.pop() if names else None


@contextlib.contextmanager
def destination(output: Path | None, input: Path | None) -> Iterator[TextIO]:
    """Give what the results are written to."""
    if output is None:
        yield sys.stdout
        return
    if input is not None and output.exists() and input.exists() and output.samefile(input):
        raise WrongUsage(f"--output {output} is the input too, which would be lost; write to another file")
    with output.open("w", encoding="utf-8", newline="\n") as out:
        yield out


def waiting(input: Path | None) -> Iterator[list[str]]:
    """Yield the lines of a file or of standard input, in chunks as they come."""
    if input is not None and str(input) != "-":
        with input.open("rb") as file:
            yield from stream.chunks(file, str(input))
        return
    if sys.stdin is None:
        raise WrongUsage("there is no standard input; give the texts as arguments, or --input FILE")
    if sys.stdin.isatty():
        print("one text a line; Ctrl-D ends", file=sys.stderr)
    yield from stream.chunks(sys.stdin.buffer, "standard input")


def valid(text: str) -> str:
    """Return a text of the command line if its bytes were UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise WrongUsage(f"the text {text.encode('utf-8', 'backslashreplace').decode()!r} is not UTF-8") from error
    return text


def text_line(number: int | None, answer: Any, scores: bool, alignments: bool) -> str:
    """Return a translation as a line; a number means that it is one of several."""
    parts = [one_line(answer.text)] if number is None else [str(number), one_line(answer.text)]
    if scores or number is not None:
        parts.append(f"{answer.score:.4f}")
    if alignments:
        parts.append(" ".join(f"{source}-{target}" for source, target in answer.links))
    return " ||| ".join(parts)


def json_line(number: int, source: str, answers: list[Any], alignments: bool) -> str:
    """Return the translations of a text as one JSON object: the best, then the others if there are more."""
    names = ["text", "score", "penalised", *(["links"] if alignments else [])]
    best, *others = [{name: getattr(answer, name) for name in names} for answer in answers]
    return as_json({"line": number, "source": source, **best, **({"others": others} if others else {})})
