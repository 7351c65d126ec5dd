"""Checkpoints: everything that a run needs to go on, as if it had never stopped.

A checkpoint is a folder that appears whole or not at all, with the SHA-256 of each of its files. What is random follows
from (seed, step) alone, and so does the position in the data: there is no random state to keep, and nothing to replay.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard.training.files import put, read_json, read_tensors, sha256, vanish, whole, write_json, write_tensors

PREFIX = "step-"
FILES = ("model.safetensors", "optimizer.safetensors", "progress.json")


def path_of(folder: Path, step: int) -> Path:
    return folder / f"{PREFIX}{step:08d}"


def steps(folder: Path) -> list[int]:
    """Return the steps of the checkpoints in a folder, oldest first."""
    names = [path.name.removeprefix(PREFIX) for path in folder.glob(f"{PREFIX}*")]
    return sorted(int(name) for name in names if name.isdigit())


def save(folder: Path, step: int, model: nn.Module, optimizer: torch.optim.Optimizer, progress: dict[str, Any]) -> None:
    """Write the checkpoint of a step."""

    def write(aside: Path) -> None:
        aside.mkdir(parents=True)
        write_tensors(aside / "model.safetensors", dict(model.named_parameters()))
        write_tensors(aside / "optimizer.safetensors", flat(model, optimizer))
        write_json(aside / "progress.json", progress)
        write_json(aside / "sha256.json", {name: sha256(aside / name) for name in FILES})

    folder.mkdir(exist_ok=True)
    whole(path_of(folder, step), write)


def load(folder: Path, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Put a checkpoint into the model and the optimizer, and return its progress; damage is named and refused."""
    path = path_of(folder, step)
    check(path)
    put(model, read_tensors(path / "model.safetensors"), path)
    restore(model, optimizer, read_tensors(path / "optimizer.safetensors"))
    return read_json(path / "progress.json")


def check(path: Path) -> None:
    """Refuse a checkpoint of which any file is not what was written, and offer the one before it."""
    damage = damaged(path)
    if damage:
        before = [step for step in steps(path.parent) if path_of(path.parent, step).name < path.name]
        whole_ones = [step for step in before if not damaged(path_of(path.parent, step))]
        advice = (
            f"remove {path} to go on from the checkpoint before it, {path_of(path.parent, whole_ones[-1]).name}"
            if whole_ones
            else f"there is no whole checkpoint before it; remove {path.parent} to go on from the beginning"
        )
        raise ValueError(f"{damage}; {advice}")


def damaged(path: Path) -> str:
    """Return what is wrong with a checkpoint; nothing where every file is what was written."""
    try:
        recorded = read_json(path / "sha256.json", *FILES)
    except ValueError as reason:
        return str(reason)
    for name in FILES:
        if not (path / name).exists():
            return f"{path / name} is missing"
        if sha256(path / name) != recorded[name]:
            return f"{path / name} is damaged: its SHA-256 is not the recorded one"
    return ""


def parameters(folder: Path, step: int) -> dict[str, Tensor]:
    """Return the parameters of a checkpoint."""
    path = path_of(folder, step)
    damage = damaged(path)
    if damage:
        raise ValueError(f"{damage}; remove {path} to average without it")
    return read_tensors(path / "model.safetensors")


def average(folder: Path, chosen: list[int]) -> dict[str, Tensor]:
    """Return the mean of the parameters of several checkpoints."""
    total = {name: x.double() for name, x in parameters(folder, chosen[0]).items()}
    for step in chosen[1:]:
        for name, x in parameters(folder, step).items():
            total[name] += x
    return {name: (x / len(chosen)).float() for name, x in total.items()}


def prune(folder: Path, stay: set[int]) -> None:
    """Remove every checkpoint but those that stay."""
    for step in steps(folder):
        if step not in stay:
            vanish(path_of(folder, step))


def flat(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return what an optimizer knows of each parameter, by the parameter's name."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    return {
        f"{names[id(parameter)]}/{key}": value
        for parameter, known in optimizer.state.items()
        for key, value in known.items()
    }


def restore(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Give an optimizer back what `flat` returned."""
    named = dict(model.named_parameters())
    for key, value in tensors.items():
        name, _, what = key.rpartition("/")
        optimizer.state[named[name]][what] = value.to(named[name].device)
