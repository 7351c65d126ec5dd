"""Learning rates worked on paper; steps count from 1."""

import math

import pytest

from regard.recipes import translate
from regard.training.plan import Plan
from regard.training.schedules import SCHEDULES, rate

every_schedule = pytest.mark.parametrize("name", SCHEDULES)


@pytest.mark.parametrize("step", [1, 2, 3999, 4000, 4001, 100_000])
def test_the_papers_schedule_is_its_formula(step: int) -> None:
    # Vaswani 2017, equation 3, for width 512 and 4,000 steps of warm-up: what the base model is trained with.
    formula = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
    assert rate(translate.plan("base", 512), step) == pytest.approx(formula, rel=1e-14)


@pytest.mark.parametrize(
    ("step", "printed"),
    [
        (1, 1.747e-7),  # 1 / (22.627 · 252982)
        (4000, 6.988e-4),  # 1 / (22.627 · 63.246)
        (100_000, 1.398e-4),  # 1 / (22.627 · 316.23)
    ],
)
def test_the_papers_schedule_in_numbers(step: int, printed: float) -> None:
    plan = Plan(rate=512**-0.5 * 4000**-0.5, schedule="paper", warmup=4000, steps=100_000)
    assert rate(plan, step) == pytest.approx(printed, rel=5e-4)


def factors(name: str, warmup: int, steps: int) -> list[float]:
    return [SCHEDULES[name](step, warmup, steps) for step in range(1, steps + 2)]


def test_a_linear_schedule_rises_and_falls_in_straight_lines() -> None:
    # Two steps up, then eight steps down to the step after the last, where it would be zero.
    expected = [1 / 2, 1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8, 0]
    assert factors("linear", 2, 9) == pytest.approx(expected, abs=1e-15)


def test_a_cosine_schedule_falls_along_half_a_wave() -> None:
    # Two steps up; 0, 1/4, 1/2, 3/4 and all of the way down are cosines of 0, 45, 90, 135 and 180 degrees.
    root = math.sqrt(0.5)
    expected = [1 / 2, 1, (1 + root) / 2, 1 / 2, (1 - root) / 2, 0]
    assert factors("cosine", 2, 5) == pytest.approx(expected, abs=1e-15)


def test_a_constant_schedule_rises_and_stays() -> None:
    assert factors("constant", 4, 7) == [0.25, 0.5, 0.75, 1, 1, 1, 1, 1]


@every_schedule
@pytest.mark.parametrize("warmup", [0, 1, 10, 100, 1000])
def test_every_rate_of_a_run_is_positive_and_at_most_the_highest(name: str, warmup: int) -> None:
    found = factors(name, warmup, 100)[:-1]
    assert all(0 < factor <= 1 for factor in found)
    if warmup <= 100:
        assert max(found) == pytest.approx(1.0, abs=0.02 if not warmup else 1e-15)


@every_schedule
def test_a_rate_is_its_factor_of_the_highest(name: str) -> None:
    plan = Plan(rate=3e-4, schedule=name, warmup=7, steps=50)
    assert [rate(plan, step) for step in range(1, 51)] == [3e-4 * SCHEDULES[name](step, 7, 50) for step in range(1, 51)]
