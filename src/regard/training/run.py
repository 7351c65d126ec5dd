"""A run, from its name and flags to a folder that can be opened.

    run("translate", {"target": "fr"}, {"steps": 500}, out=Path("runs/translate"))

A run that goes on has the flags and the plan that it was begun with.
"""

import os
import platform
import tempfile
import time
from dataclasses import asdict, fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import nn

import regard
from regard.data.source import Source
from regard.tasks.task import Task
from regard.training import checkpoints, loop
from regard.training.allocator import keep_memory
from regard.training.files import finite, put, read_json, read_tensors, write_json
from regard.training.folder import RunFolder, restore
from regard.training.optimizers import optimizer
from regard.training.plan import Plan
from regard.training.recipe import Recipe, load, settled

# What may differ when a run goes on: how far, how long, and where it is written from.
MAY_CHANGE = {"steps", "minutes"}
LIBRARIES = ("torch", "numpy", "tokenizers", "safetensors", "sacrebleu")


def run(
    name: str,
    flags: dict[str, Any],
    plan_flags: dict[str, Any],
    *,
    out: Path,
    resume: bool = False,
    overwrite: bool = False,
    start: str | None = None,
    tokenizer: str | None = None,
    like: str | None = None,
) -> dict[str, Any]:
    """Train a recipe in a folder and return a summary. `flags` and `plan_flags` hold what the user gave.

    `start` is a run whose parameters and vocabulary the new one begins with, `tokenizer` a file or a run whose
    vocabulary it shares, `like` a run whose flags it repeats.
    """
    folder = RunFolder(out)
    if resume and not folder.exists():
        raise ValueError(f"{out} holds no run to resume; leave --resume away to begin one")
    folder.refuse_others()
    folder.take()
    try:
        if folder.exists() and not (resume or overwrite):
            raise ValueError(f"{out} holds a run already; use --resume to go on with it, --overwrite, or another --out")
        given = {"from": start, "tokenizer": tokenizer, "like": like}
        record = (gone_on if resume else begun)(folder, name, flags, plan_flags, given)
        recipe = load(name, thawed(record["flags"]))
        plan = Plan(**record["plan"]) if resume else recipe.plan.changed(record["plan_flags"])
        return carried_out(recipe, plan, folder, {**record, "plan": asdict(plan)}, resume=resume)
    finally:
        folder.release()


def begun(
    folder: RunFolder,
    name: str,
    flags: dict[str, Any],
    plan_flags: dict[str, Any],
    given: dict[str, str | None],
) -> dict[str, Any]:
    """Return the record of a new run."""
    if given["from"] is not None and given["tokenizer"] is not None:
        raise ValueError("--from takes over the run's vocabulary, and --tokenizer shares another; give one of them")
    if given["like"] is not None:
        before = read_json(Path(given["like"]) / "run.json", "recipe", "flags", "plan_flags")
        if before["recipe"] != name:
            raise ValueError(f"{given['like']} is a run of {before['recipe']}, and cannot be repeated as {name}")
        flags, plan_flags = {**before["flags"], **frozen(flags)}, {**before["plan_flags"], **plan_flags}
    return {"recipe": name, "flags": frozen(flags), "plan_flags": plan_flags, **given}


def gone_on(
    folder: RunFolder,
    name: str,
    flags: dict[str, Any],
    plan_flags: dict[str, Any],
    given: dict[str, str | None],
) -> dict[str, Any]:
    """Return the record of a run that goes on; what would make another run of it is refused by name."""
    path = folder.path / "run.json"
    record = read_json(path, "recipe", "flags", "plan", "plan_flags")
    if record["recipe"] != name:
        raise ValueError(f"{folder.path} holds a run of {record['recipe']}, which cannot go on as {name}")
    record = {**dict.fromkeys(given), **record}
    unknown = sorted(set(record["plan"]) - {field.name for field in fields(Plan)})
    if unknown:
        raise ValueError(f"{path} says {unknown[0]!r}, which no plan has; was the run made by another version?")
    settings = frozen(settled(name, thawed(record["flags"])))
    known = {**{flag: record[flag] for flag in given}, **settings, **record["plan"]}
    for flag, value in {**frozen(flags), **plan_flags, **given}.items():
        if value is None and flag in given:
            continue
        before = known.get(flag, "the default")
        if flag not in MAY_CHANGE and before != value:
            was = "without it" if before is None else f"with {plain(before)}"
            raise ValueError(
                f"--{flag.replace('_', '-')} {plain(value)} cannot be used with --resume: the run was begun {was}; "
                "only --steps and --minutes may change"
            )
    changed = {flag: value for flag, value in plan_flags.items() if flag in MAY_CHANGE}
    reached = max(checkpoints.steps(folder.checkpoints), default=0)
    if reached:
        checkpoints.check(checkpoints.path_of(folder.checkpoints, reached))
    if changed.get("steps", reached) < reached:
        raise ValueError(f"--steps {changed['steps']} lies behind the run, which has come to step {reached}")
    record.pop("result", None)
    return {
        **record,
        "plan": {**record["plan"], **changed},
        "plan_flags": {**record["plan_flags"], **changed},
    }


def carried_out(
    recipe: Recipe, plan: Plan, folder: RunFolder, record: dict[str, Any], *, resume: bool
) -> dict[str, Any]:
    """Prepare the task, build the model, train it, and write down what came out."""
    keep_memory()
    torch.set_num_threads(plan.threads or cores())
    check_device(plan.device)
    task, out = recipe.task, folder.path
    # Without a checkpoint, a run that began with another's parameters begins once more.
    kept = checkpoints.steps(folder.checkpoints)
    trained = any(step > 0 for step in kept)
    prepared = folder.begun() and (bool(kept) or record["from"] is None)
    goes_on = resume and (trained or prepared)
    if goes_on:
        restore(task, out)
    elif record["from"] is not None:
        restore(task, Path(record["from"]))
    elif record["tokenizer"] is not None:
        share(task, Path(record["tokenizer"]))
    counted(recipe, task.sizes())  # sizes that do not fit are refused before anything is read
    task.prepare()
    torch.manual_seed(plan.seed)
    model = recipe.build(task.sizes())
    described = frozen(task.describe())
    if goes_on:
        refuse_other_data(out, read_json(out / "run.json", "data")["data"], described)
    elif record["from"] is not None:
        path = Path(record["from"]) / "model.safetensors"
        put(model, read_tensors(path), path)
    model.to(plan.device)
    record |= {"data": described, "versions": versions(), "parameters": size(model), "sizes": task.sizes()}
    if goes_on:
        write_json(out / "run.json", record)
    else:
        saved = folder.begin(record, task)
        if record["from"] is not None:
            checkpoints.save(folder.checkpoints, 0, model, optimizer(model, plan), asdict(loop.Progress()))
        write_json(
            out / "config.json",
            {
                "recipe": record["recipe"],
                "flags": frozen(settled(record["recipe"], thawed(record["flags"]))),
                "sizes": task.sizes(),
                "parameters": size(model),
                "files": saved,
            },
        )
    begin = time.monotonic()
    progress, stopped, scores = loop.train(model, task, plan, folder)
    summary = {
        "run": str(out),
        "stopped": stopped,
        "steps": progress.step,
        "best": {"step": progress.best_step, "score": progress.best},
        "scores": {name: score.value for name, score in scores.items()},
        "seconds": round(progress.seconds, 1),
        "seconds of this session": round(time.monotonic() - begin, 1),
    }
    write_json(out / "run.json", {**record, "result": finite(summary)})
    return summary


def refuse_other_data(out: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to go on with data that are not what the run was begun with, and name what is different."""
    if before != now:
        changed = differences(before, now)
        if changed == ["files"] and isinstance(before["files"], dict) and isinstance(now["files"], dict):
            changed = differences(before["files"], now["files"])
        raise ValueError(
            f"the data of {out} have changed since it was begun ({', '.join(changed[:5])}); bring back what they were, "
            f"or begin another run with --from {out}"
        )


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    return sorted(name for name in {**before, **now} if before.get(name) != now.get(name))


def share(task: Task, origin: Path) -> None:
    """Give a task the vocabulary of a run, or of a tokenizer.json."""
    if origin.is_dir():
        restore(task, origin)
        return
    if not origin.exists():
        raise ValueError(f"--tokenizer {origin} does not exist; give a run folder or a tokenizer.json")
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder, "tokenizer.json")
        copied.write_bytes(origin.read_bytes())
        try:
            task.restore(Path(folder))
        except ValueError as reason:
            said = str(reason).replace(str(copied), "it").replace(folder, "it")
            raise ValueError(f"--tokenizer {origin} cannot be used: {said}") from None


def show(name: str, flags: dict[str, Any], plan_flags: dict[str, Any]) -> dict[str, Any]:
    """Return what a recipe would build. No data are read and no parameters allocated."""
    recipe = load(name, flags)
    return {
        "recipe": name,
        **counted(recipe, recipe.task.sizes()),
        "plan": asdict(recipe.plan.changed(plan_flags)),
        "flags": frozen(settled(name, flags)),
    }


def show_run(path: str | Path) -> dict[str, Any]:
    """Return what a run folder holds."""
    record = read_json(Path(path) / "run.json")
    config = read_json(Path(path) / "config.json", "recipe", "flags", "sizes")
    recipe = load(config["recipe"], thawed(config["flags"]))
    files = {file.name: file.stat().st_size for file in sorted(Path(path).iterdir()) if file.is_file()}
    found = {"run": str(path), "recipe": config["recipe"], **counted(recipe, config["sizes"])}
    found |= {key: record[key] for key in ("plan", "flags", "data", "versions", "result") if key in record}
    return {**found, "files": files}


def counted(recipe: Recipe, sizes: dict[str, int]) -> dict[str, Any]:
    """Return how many parameters a recipe's model has, in all and by part."""
    with torch.device("meta"):
        model = recipe.build(sizes)
    parts: dict[str, int] = {}
    for name, parameter in model.named_parameters():
        part = ".".join(name.split(".")[:2])
        parts[part] = parts.get(part, 0) + parameter.numel()
    return {"parameters": size(model), "parts": parts, "sizes": sizes, "code": code(recipe, model)}


def code(recipe: Recipe, model: nn.Module) -> list[str]:
    """Return the files of this package that a recipe's task and model are written in, in the order to read them."""
    kinds = [type(recipe.task), *(type(part) for part in model.modules())]
    modules = [recipe.build.__module__, *(kind.__module__ for kind in kinds)]
    return list(dict.fromkeys(f"{module.replace('.', '/')}.py" for module in modules if module.startswith("regard.")))


def size(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_device(device: str) -> None:
    """Refuse a device that is not here."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as reason:  # what torch raises, depending on the device
        said = str(reason).splitlines()[0]
        raise ValueError(f"--device {device} cannot be used on this machine ({said})") from None


def versions() -> dict[str, str]:
    libraries = {name: version(name) for name in LIBRARIES}
    return {"regard": regard.__version__, "python": platform.python_version(), **libraries}


def frozen(value: Any) -> Any:
    """Return flags as JSON knows them."""
    if isinstance(value, dict):
        return {str(key): frozen(part) for key, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: frozen(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, list | tuple):
        return [frozen(part) for part in value]
    return str(value) if isinstance(value, Path) else value


def thawed(flags: dict[str, Any]) -> dict[str, Any]:
    """Return flags as recipes take them, from JSON."""
    known = {field.name for field in fields(Source)}
    for key, value in flags.items():
        if isinstance(value, dict) and set(value) - known:
            raise ValueError(f"--{key} cannot be {value}; was the run made by another version?")
    return {key: Source(**value) if isinstance(value, dict) else value for key, value in flags.items()}


def plain(value: Any) -> str:
    """Return a flag's value as a person would write it."""
    return str(value.get("place", value)) if isinstance(value, dict) else str(value)
