"""What every named arrow carried during one run.

`note(label, x)` returns `x`; while somebody looks, it makes a record as well:

    with trace(model) as seen:
        model(pair)
    seen["decoder.layers.2.cross.weights"]

A record's name is the path of the module that was running, a dot, and the label. A label noted again and again (a
decoder's steps) is joined along T.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar

import torch
from torch import Tensor, nn

# What wrappers for compilation and for many devices put into the names of the modules they wrap.
WRAPPERS = ("_orig_mod", "module")


class Seen:
    """The records of one run, by name."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self.records: dict[str, list[Tensor]] = {}

    def add(self, label: str, x: Tensor) -> None:
        name = f"{self.path[-1]}.{label}" if self.path and self.path[-1] else label
        self.records.setdefault(name, []).append(x.detach())

    def __getitem__(self, name: str) -> Tensor:
        """Return a record; one that was noted step by step is joined along T."""
        if name not in self.records:
            raise KeyError(f"nothing was noted as {name!r}; there are: {', '.join(self) or 'no records'}")
        return join(self.records[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.records)

    def __contains__(self, name: str) -> bool:
        return name in self.records

    def all(self, label: str) -> dict[str, Tensor]:
        """Return every record of a label by the path of its module, in the order of the run."""
        return {name[: -len(label) - 1]: self[name] for name in self.records if name.endswith("." + label)}


def join(parts: list[Tensor]) -> Tensor:
    """Join the steps of a record along T; what grew from step to step along S is filled up with zeros."""
    if len(parts) == 1:
        return parts[0]
    longest = max(part.shape[-1] for part in parts)
    return torch.cat([nn.functional.pad(part, (0, longest - part.shape[-1])) for part in parts], dim=-2)


_seen: ContextVar[Seen | None] = ContextVar("seen", default=None)


def looking() -> bool:
    """Return whether somebody looks: a kernel that hides its weights must not run then."""
    return _seen.get() is not None


def note(label: str, x: Tensor) -> Tensor:
    """Return `x`, recorded under the running module's path when somebody looks."""
    seen = _seen.get()
    if seen is not None:
        seen.add(label, x)
    return x


@contextmanager
def trace(model: nn.Module) -> Iterator[Seen]:
    """Record what every `note` inside the model carries until the block ends."""
    seen = Seen()
    hooks = []
    for name, module in model.named_modules():
        path = ".".join(part for part in name.split(".") if part not in WRAPPERS)
        hooks.append(module.register_forward_pre_hook(_enter(seen, path)))
        hooks.append(module.register_forward_hook(_leave(seen), always_call=True))
    token = _seen.set(seen)
    try:
        with torch.compiler.set_stance("force_eager") if compiled(model) else nullcontext():
            yield seen
    finally:
        _seen.reset(token)
        for hook in hooks:
            hook.remove()


def compiled(model: nn.Module) -> bool:
    """Return whether any part of a model is compiled: it runs eagerly while somebody looks."""
    return any(hasattr(part, "_orig_mod") or part._compiled_call_impl is not None for part in model.modules())


def _enter(seen: Seen, path: str) -> Callable[[nn.Module, object], None]:
    def enter(module: nn.Module, inputs: object) -> None:
        if _seen.get() is seen:  # another thread's run passes here too
            seen.path.append(path)

    return enter


def _leave(seen: Seen) -> Callable[[nn.Module, object, object], None]:
    def leave(module: nn.Module, inputs: object, result: object) -> None:
        if _seen.get() is seen:
            seen.path.pop()

    return leave
