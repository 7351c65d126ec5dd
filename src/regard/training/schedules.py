"""The learning rate as a function of the step: each schedule is a factor between 0 and 1, step counting from 1."""

import math

from regard.training.plan import Plan


def paper(step: int, warmup: int, steps: int) -> float:
    """Rise for `warmup` steps, then fall as 1/√step. With rate = D^−½ · warmup^−½ it is the paper's formula."""
    warmup = max(warmup, 1)
    return min(step / warmup, math.sqrt(warmup / step))


def cosine(step: int, warmup: int, steps: int) -> float:
    """Rise for `warmup` steps, then fall along half a cosine to 0 after the last step."""
    return rise(step, warmup) * (1 + math.cos(math.pi * fallen(step, warmup, steps))) / 2


def linear(step: int, warmup: int, steps: int) -> float:
    """Rise for `warmup` steps, then fall in a straight line to 0 after the last step."""
    return rise(step, warmup) * (1 - fallen(step, warmup, steps))


def constant(step: int, warmup: int, steps: int) -> float:
    """Rise for `warmup` steps, then stay."""
    return rise(step, warmup)


def rise(step: int, warmup: int) -> float:
    return min(1.0, step / warmup) if warmup else 1.0


def fallen(step: int, warmup: int, steps: int) -> float:
    """Return how much of the way from the end of the warm-up to the step after the last lies behind this step."""
    return min(1.0, max(0.0, (step - warmup) / max(1, steps + 1 - warmup)))


SCHEDULES = {"paper": paper, "cosine": cosine, "linear": linear, "constant": constant}


def rate(plan: Plan, step: int) -> float:
    """Return the learning rate of an update, counted from 1."""
    return plan.rate * SCHEDULES[plan.schedule](step, plan.warmup, plan.steps)
