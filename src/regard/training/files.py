"""Files that appear whole or not at all: written aside, flushed, renamed."""

import contextlib
import hashlib
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor


def flush(path: Path) -> None:
    """Make what was written to a file, or the names in a folder, reach the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file or a folder aside with `write`, then put it in its place in one move."""
    aside = part(path)
    discard(aside)
    try:
        with naming(path):
            write(aside)
            for file in [*aside.rglob("*"), aside]:
                flush(file)
        aside.replace(path)
    except BaseException:
        discard(aside)
        raise
    flush(path.parent)


def part(path: Path) -> Path:
    """Return where something is while it is not whole."""
    return path.with_name(f".{path.name}.part")


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in errors that do not: a full disk does not say where it is full."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None


def discard(path: Path) -> None:
    """Remove a file or a folder, if there is one."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def vanish(path: Path) -> None:
    """Remove a folder so that nobody ever finds a half of it."""
    discard(part(path))
    path.replace(part(path))
    discard(part(path))


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON file whole."""
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    whole(path, lambda aside: aside.write_text(text, encoding="utf-8"))


def read_json(path: Path, *names: str) -> dict[str, Any]:
    """Return what a JSON file of a run says; `names` are what must be in it."""
    try:
        value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{path} is missing: {path.parent} is not a run folder, or a damaged one") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as reason:
        raise ValueError(f"{path} is damaged: it is not JSON ({reason})") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path} is damaged: it should hold an object, and holds {json.dumps(value)[:40]}")
    for name in names:
        if name not in value:
            raise ValueError(f"{path} is damaged: it does not say {name!r}")
    return value


def finite(value: Any) -> Any:
    """Return a value with null for every number that JSON does not know: infinite, or none at all."""
    if isinstance(value, dict):
        return {name: finite(inner) for name, inner in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write tensors in the safetensors format, with their SHA-256. Use it inside `whole`."""
    kept = {name: x.detach().cpu().contiguous() for name, x in tensors.items()}
    path.write_bytes(save(kept, metadata={"sha256": digest(kept)}))


def read_tensors(path: Path, device: str = "cpu") -> dict[str, Tensor]:
    """Return the tensors of a safetensors file; damage is named."""
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
            recorded = (file.metadata() or {}).get("sha256")
    except FileNotFoundError:
        raise ValueError(f"{path} is missing: {path.parent} is not a run folder, or a damaged one") from None
    except SafetensorError as reason:
        raise ValueError(f"{path} is damaged: it is not a whole safetensors file ({reason})") from None
    if recorded is not None and recorded != digest(tensors):
        raise ValueError(f"{path} is damaged: its numbers do not have the SHA-256 that was recorded with them")
    return {name: x.to(device) for name, x in tensors.items()}


def digest(tensors: dict[str, Tensor]) -> str:
    """Return the SHA-256 of tensors in the order of their names."""
    found = hashlib.sha256()
    for name in sorted(tensors):
        found.update(name.encode())
        found.update(tensors[name].reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()


def put(model: torch.nn.Module, tensors: dict[str, Tensor], origin: Path) -> None:
    """Copy tensors into the parameters of a model; each must be there, of the right shape."""
    parameters = dict(model.named_parameters())
    missing, unknown = sorted(set(parameters) - set(tensors)), sorted(set(tensors) - set(parameters))
    if missing or unknown:
        what = f"lacks {missing[0]}" if missing else f"has {unknown[0]}, which the model has not"
        raise ValueError(f"{origin} does not fit the model: it {what}; were other flags used to train it?")
    with torch.no_grad():
        for name, parameter in parameters.items():
            if parameter.shape != tensors[name].shape:
                raise ValueError(
                    f"{origin} does not fit the model: {name} has shape {tuple(tensors[name].shape)}, but the model "
                    f"wants {tuple(parameter.shape)}; were other flags or another vocabulary used to train it?"
                )
            parameter.copy_(tensors[name])
