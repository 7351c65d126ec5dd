"""A run folder, opened: something that translates, captions, classifies.

translator = regard.open("runs/en-fr")
translator.translate(["I am a student."])
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from regard.data.source import Source
from regard.tasks.task import Task
from regard.training.files import put, read_json, read_tensors
from regard.training.folder import restore
from regard.training.recipe import load
from regard.training.run import check_device, thawed


class WrongVerb(AttributeError, ValueError):
    """A run was asked for what it has not learned. To Python it is a method that is not there."""


class System:
    """A model with its task. The task's verbs are its methods: `system.translate(texts)`."""

    def __init__(self, path: Path, recipe: str, flags: dict[str, Any], task: Task, model: nn.Module) -> None:
        self.path = path
        self.recipe = recipe
        self.flags = flags
        self.task = task
        self.model = model

    def evaluate(
        self,
        split: str = "test",
        *,
        data: Source | None = None,
        beam: int = 5,
        alignments: bool = False,
        outputs: Path | None = None,
    ) -> dict[str, Any]:
        """Return the scores on a split of the run's own data, or of other data: {"split": …, "scores": {…}}."""
        task = self.task
        if data is not None:
            if "data" not in self.flags:
                raise ValueError(f"{self.recipe} brings its own data, and can be judged on no other; leave --data away")
            task = load(self.recipe, {**self.flags, "data": data}).task
            task.restore(self.path)
        splits = task.splits()
        tests = [name for name in splits if name not in ("train", "val")]
        if split == "test" and split not in splits and len(tests) == 1:
            split = tests[0]
        if split not in splits:
            raise ValueError(
                f"the data have no split {split!r}; they have: {', '.join(splits)}; choose one with --split"
            )
        scores = task.evaluate(self.model, split, beam=beam, most=None, outputs=outputs)
        if alignments:
            if "align" not in task.verbs:
                raise WrongVerb(f"{self.path} is a run of {self.recipe}, which aligns nothing; leave --alignments away")
            scores |= task.verbs["align"](self.model, split)
        return {"split": split, "scores": scores}

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        if verb.startswith("_"):
            raise AttributeError(verb)
        verbs = self.task.verbs
        if verb not in verbs:
            fits = next(iter(verbs))
            raise WrongVerb(f"{self.path} is a run of {self.recipe}; use: regard {fits} {self.path}")
        return partial(verbs[verb], self.model)


def open(run: str | Path, device: str = "cpu") -> System:
    """Return what a run folder holds, ready to answer; no training data are needed."""
    path = Path(run)
    if not path.is_dir():
        raise ValueError(f"there is no run folder {path}; train one with: regard train RECIPE --out {path}")
    check_device(device)
    config = read_json(path / "config.json", "recipe", "flags", "sizes")
    flags = thawed(config["flags"])
    recipe = load(config["recipe"], flags)
    restore(recipe.task, path)
    model = recipe.build(config["sizes"])
    parameters = path / "model.safetensors"
    if not parameters.exists():
        raise ValueError(f"{parameters} is missing: the run has not come to its first look yet, or is damaged")
    put(model, read_tensors(parameters), parameters)
    return System(path, config["recipe"], flags, recipe.task, model.to(device).eval())
