"""What a training step costs, and how little of it is loading: `python benchmarks/step.py FOLDER en de`.

Prints target tokens a second (the median of five repetitions of 20 steps, after 5 to warm up), the share of the time
that is spent waiting for data, and the share of padding.
"""

import copy
import statistics
import sys
import time
from typing import Any

import torch

from regard.data.source import Source
from regard.recipes.translate import recipe
from regard.training.allocator import keep_memory
from regard.training.loop import Progress
from regard.training.optimizers import Twin, optimizer

REPETITIONS, STEPS, WARM = 5, 20, 5


def main(place: str, source: str, target: str) -> None:
    keep_memory()
    task, build, plan = recipe(Source(place), source=source, target=target)
    task.prepare()
    torch.manual_seed(plan.seed)
    model = build(task.sizes())
    adam = optimizer(model, plan)
    twin = Twin(model, copy.deepcopy(model) if plan.precision == "bfloat16" else None)
    batches = task.batches("train", seed=plan.seed, step=0, size=plan.batch)
    loading, rates = Progress(), []
    positions = counted = 0

    def step() -> int:
        nonlocal positions, counted
        begin = time.perf_counter()
        batch: Any = next(batches)
        counts = task.counts([batch])
        loading.loading += time.perf_counter() - begin
        positions += batch.source_BS.numel() + batch.target_BT.numel()
        lengths_B = batch.lengths_B
        counted += counts["loss"] + (batch.source_BS.numel() if lengths_B is None else int(lengths_B.sum()))
        twin.clear()
        twin.computes.train()
        (task.loss(twin.computes, batch, 1) / counts).backward()
        twin.gradients()
        torch.nn.utils.clip_grad_norm_(list(model.parameters()), plan.clip)
        adam.step()
        loading.training += time.perf_counter() - begin
        return counts["loss"]

    for _ in range(WARM):
        step()
    loading.loading = loading.training = 0.0
    for _ in range(REPETITIONS):
        begin = time.perf_counter()
        tokens = sum(step() for _ in range(STEPS))
        rates.append(tokens / (time.perf_counter() - begin))
    print(f"target tokens a second   {statistics.median(rates):,.0f}   (of {min(rates):,.0f} to {max(rates):,.0f})")
    print(f"waiting for data         {loading.loading / loading.training:.2%} of the time")
    print(f"padding                  {1 - counted / positions:.1%} of the positions")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
