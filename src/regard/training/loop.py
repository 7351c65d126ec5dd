"""The one training loop, for every task.

    for batch in batches:  (task.loss / counts).backward()

What a sum is divided by is known from the data, over all the batches of an update, before the first backward pass; so
accumulation changes nothing but memory. Batches and randomness are pure functions of (seed, step): a run that was
stopped at any instant goes on from its last checkpoint bit for bit.
"""

import copy
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import nn

from regard.metrics.score import Score
from regard.tasks.task import Loss, Task, Term
from regard.training import checkpoints
from regard.training.folder import RunFolder
from regard.training.interruption import Interruption
from regard.training.optimizers import Twin, optimizer
from regard.training.plan import Plan
from regard.training.progress import Display
from regard.training.schedules import rate

# The examples that a look judges: enough to tell checkpoints apart, few enough to be quick.
LOOKED_AT = 1000
# So many updates without a finite gradient end a run.
REFUSED_IN_A_ROW = 3


@dataclass
class Progress:
    """How far a run is; with the parameters and the optimizer's memory it is everything a checkpoint holds."""

    step: int = 0
    best: float | None = None
    best_step: int = 0
    stale: int = 0
    """Looks since the best score."""
    refused: int = 0
    """Updates refused in a row."""
    sums: dict[str, float] = field(default_factory=dict)
    """The loss since the last look, by term."""
    counted: dict[str, int] = field(default_factory=dict)
    training: float = 0.0
    """Seconds spent on updates since the last look, of which `loading` waited for data."""
    loading: float = 0.0
    seconds: float = 0.0
    """Seconds since the run began, stops not counted."""
    looked: dict[str, float] = field(default_factory=dict)
    """The score at each step where a checkpoint may be among the best."""
    lengths: dict[str, int] = field(default_factory=dict)
    """The size of each growing file."""

    def count(self, loss: Loss, counts: dict[str, int]) -> None:
        for name, term in loss.items():
            self.sums[name] = self.sums.get(name, 0.0) + float(term.total)
        for name, number in counts.items():
            self.counted[name] = self.counted.get(name, 0) + number

    def best_steps(self, number: int, among: list[int]) -> list[int]:
        """Return the steps with the best scores, best first; of equal ones the earlier."""
        scored = [step for step in among if str(step) in self.looked]
        return sorted(scored, key=lambda step: (-self.looked[str(step)], step))[:number]


def train(model: nn.Module, task: Task, plan: Plan, folder: RunFolder) -> tuple[Progress, str, dict[str, Score]]:
    """Train the model from the newest checkpoint on, or from the beginning, and leave the best or averaged parameters
    in it; return the progress, why it stopped, and the scores."""
    adam = optimizer(model, plan)
    progress = Progress()
    there = checkpoints.steps(folder.checkpoints)
    if there:
        progress = Progress(**checkpoints.load(folder.checkpoints, there[-1], model, adam))
    folder.cut_back(progress.lengths)
    twin = Twin(model, copy.deepcopy(model) if plan.precision == "bfloat16" else None)
    batches = task.batches("train", seed=plan.seed, step=progress.step * plan.accumulate, size=plan.batch)
    before, started = progress.seconds, time.monotonic()
    with Interruption() as interruption, Display(plan.steps, progress.step) as display:
        stopped = ""
        while not stopped:
            if progress.step >= plan.steps:
                stopped = "steps"
            elif plan.patience and progress.stale >= plan.patience:
                stopped = "patience"
            elif plan.minutes and time.monotonic() - started >= 60 * plan.minutes:
                stopped = "minutes"
            elif interruption.signal:
                stopped = "interrupted"
            if stopped:
                break
            update(twin, adam, task, plan, progress, batches, folder)
            progress.seconds = before + time.monotonic() - started
            display.advance(progress.step, progress.sums, progress.counted, progress.training)
            last = progress.step == plan.steps
            if progress.step % plan.look_every == 0 or last:
                look(model, task, plan, progress, folder, display)
            if progress.step % plan.draw_every == 0:
                folder.draw()
            if last or due(plan, progress, progress.step):
                save(model, adam, plan, progress, folder)
        if progress.step and progress.step not in checkpoints.steps(folder.checkpoints):
            save(model, adam, plan, progress, folder)
    interruption.leave()
    folder.draw()
    return progress, stopped, finish(model, task, plan, progress, folder)


def update(
    twin: Twin,
    adam: torch.optim.Optimizer,
    task: Task,
    plan: Plan,
    progress: Progress,
    batches: Iterator[Any],
    folder: RunFolder,
) -> None:
    """Move the parameters once; a gradient that is not finite never reaches them."""
    begin = time.perf_counter()
    several = [next(batches) for _ in range(plan.accumulate)]
    counts = task.counts(several)
    progress.loading += time.perf_counter() - begin
    step = progress.step + 1
    torch.manual_seed(plan.seed * 1_000_003 + step)
    twin.clear()
    total = Loss()
    twin.computes.train()
    for batch in several:
        loss = task.loss(twin.computes, batch.to(plan.device), step)
        (loss / counts).backward()
        twin.gradients()
        loss = Loss({name: Term(term.total.detach(), term.weight) for name, term in loss.items()})
        total = total.plus(loss) if total else loss
    parameters = [parameter for parameter in twin.model.parameters() if parameter.grad is not None]
    norm = nn.utils.clip_grad_norm_(parameters, plan.clip or math.inf)
    progress.step = step
    if math.isfinite(float(norm)) and math.isfinite(float(total / counts)):
        for group in adam.param_groups:
            group["lr"] = rate(plan, step)
        adam.step()
        progress.count(total, counts)
        progress.refused = 0
    else:
        refuse(several, float(total / counts), float(norm), progress, folder)
    progress.training += time.perf_counter() - begin


def refuse(batches: list[Any], loss: float, norm: float, progress: Progress, folder: RunFolder) -> None:
    """Keep the batches of an update whose gradient is not finite, and stop the run when that goes on."""
    progress.refused += 1
    kept = folder.keep_refused(progress.step, batches)
    folder.warn(
        f"step {progress.step}: the loss is {loss} and the gradient's norm {norm}; the parameters were left as they "
        f"were, and the batch was kept in {kept}"
    )
    if progress.refused >= REFUSED_IN_A_ROW:
        raise ValueError(
            f"{progress.refused} updates in a row had no finite gradient, the last at step {progress.step}; their "
            f"batches are in {kept.parent}; lower --rate, or use --precision float32"
        )


@torch.no_grad()
def look(model: nn.Module, task: Task, plan: Plan, progress: Progress, folder: RunFolder, display: Display) -> None:
    """Score the model on validation data, write a line of log and samples, and keep the best parameters."""
    model.eval()
    scores = task.evaluate(model, "val", most=LOOKED_AT)
    samples = task.show(model)
    model.train()
    score = next(iter(scores.values())).value
    progress.stale += 1
    if score > (-math.inf if progress.best is None else progress.best):
        progress.best, progress.best_step, progress.stale = score, progress.step, 0
        folder.write_parameters(model)
    if not math.isnan(score):
        progress.looked[str(progress.step)] = score
    line = {
        "step": progress.step,
        "rate": rate(plan, progress.step),
        "train": means(progress),
        "val": {name: score.value for name, score in scores.items()},
        "tokens_per_second": round(max(progress.counted.values(), default=0) / max(progress.training, 1e-9), 1),
        "loading_share": round(progress.loading / max(progress.training, 1e-9), 5),
        "seconds": round(progress.seconds, 1),
    }
    progress.sums, progress.counted, progress.training, progress.loading = {}, {}, 0.0, 0.0
    folder.log(line)
    folder.write_samples(progress.step, samples)
    progress.lengths = folder.lengths()
    display.report(line)


def means(progress: Progress) -> dict[str, float]:
    return {name: total / progress.counted[name] for name, total in progress.sums.items()}


def save(model: nn.Module, adam: torch.optim.Optimizer, plan: Plan, progress: Progress, folder: RunFolder) -> None:
    """Write a checkpoint; the newest and the best stay."""
    stay = staying(plan, progress, checkpoints.steps(folder.checkpoints))
    progress.looked = {step: score for step, score in progress.looked.items() if int(step) in stay}
    checkpoints.save(folder.checkpoints, progress.step, model, adam, asdict(progress))
    checkpoints.prune(folder.checkpoints, stay)


def staying(plan: Plan, progress: Progress, there: list[int]) -> set[int]:
    """Return the steps of the checkpoints that stay: the newest, the best, and what will be averaged."""
    there = planned(plan, progress, [*there, progress.step])
    which, number = plan.averaged()
    newest = max(plan.keep, number if which == "last" else 0)
    best = plan.best if which == "last" else max(plan.best, number, 1)
    return {*there[-newest:], *progress.best_steps(best, there)}


def due(plan: Plan, progress: Progress, step: int) -> bool:
    """Whether the plan wants a checkpoint of a step: every so often, and at every look where the best are wanted."""
    return step % plan.save_every == 0 or (str(step) in progress.looked and plan.averaged()[0] != "last")


def planned(plan: Plan, progress: Progress, there: list[int]) -> list[int]:
    """Return the checkpoints that the plan asks for, and the newest.

    What an interruption left would not be there without it, and changes neither what stays nor what is averaged.
    """
    return sorted({step for step in there if step and (due(plan, progress, step) or step == progress.step)})


@torch.no_grad()
def finish(model: nn.Module, task: Task, plan: Plan, progress: Progress, folder: RunFolder) -> dict[str, Score]:
    """Leave the averaged or the best parameters in the model and the run folder, and score them."""
    checkpoints.prune(folder.checkpoints, staying(plan, progress, checkpoints.steps(folder.checkpoints)))
    which, number = plan.averaged()
    there = planned(plan, progress, checkpoints.steps(folder.checkpoints))
    chosen = there[-number:] if which == "last" else progress.best_steps(max(number, 1), there)
    if chosen:
        folder.put(model, checkpoints.average(folder.checkpoints, chosen))
    folder.write_parameters(model)
    model.eval()
    return task.evaluate(model, "val", most=LOOKED_AT)
