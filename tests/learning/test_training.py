"""Training learns: small enough to finish, real enough to fail."""

import copy
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.data.corpus import Pair
from regard.data.digits import Digits, Order
from regard.metrics.score import Score
from regard.models.transformer import Sizes, transformer
from regard.tasks.task import Loss
from regard.tasks.translation import PairBatch, Translation, pair_batch
from regard.training import checkpoints, files, loop
from regard.training.folder import RunFolder
from regard.training.loop import Progress
from regard.training.plan import Plan
from regard.training.schedules import rate
from tests.runs import log

CURVE = Path(__file__).parent / "curve.txt"
BRIEF = Plan(steps=20, batch=60, rate=3e-3, warmup=4, look_every=10, save_every=10, draw_every=1000)


class Trained:
    """What came out of training in a folder."""

    def __init__(self, task: Translation, plan: Plan, out: Path, model: nn.Module | None = None) -> None:
        self.task, self.plan, self.out = task, plan, out
        task.prepare()
        self.model = small(task) if model is None else model
        self.begun = copy.deepcopy(self.model)
        folder = RunFolder(out)
        folder.take()
        self.progress, self.stopped, self.scores = loop.train(self.model, task, plan, folder)
        folder.release()

    def kept(self, step: int, name: str = "model") -> dict[str, Tensor]:
        return files.read_tensors(checkpoints.path_of(self.out / "checkpoints", step) / f"{name}.safetensors")

    def parameters(self) -> dict[str, Tensor]:
        return files.read_tensors(self.out / "model.safetensors")


def digits(order: Order = "reverse", *, longest: int = 4, train: int = 200, smoothing: float = 0.0) -> Translation:
    corpus = Digits(order, longest=longest, train=train, val=8, test=8)
    return Translation(corpus, vocabulary=16, kind="word", smoothing=smoothing, judge="exact")


def small(task: Translation, width: int = 16, seed: int = 1) -> nn.Module:
    torch.manual_seed(seed)
    one = {"encoder_layers": 1, "decoder_layers": 1}
    return transformer(Sizes(**task.sizes(), **one, width=width, inner=2 * width, heads=2, dropout=0.0, norm="pre"))


# It learns.


def test_the_loss_curve_is_the_stored_one(tmp_path: Path) -> None:
    # In double precision, so that every machine comes to the same numbers. After a change that is meant to change
    # them, remove the file and run this test: it writes the new curve.
    task = digits(train=60, smoothing=0.1)
    task.prepare()
    plan = Plan(steps=24, batch=60, rate=3e-3, warmup=6, look_every=2, save_every=24, draw_every=1000)
    Trained(task, plan, tmp_path, small(task).double())
    found = "".join(
        f"{line['step']:2} {line['train']['loss']:.4f} {line['val']['nll']:.4f}\n" for line in log(tmp_path)
    )
    if not CURVE.exists():
        CURVE.write_text(found)
        pytest.fail(f"{CURVE.name} was absent and has been written anew; read what changed, then run the test again")
    stored = CURVE.read_text()
    # The cross-entropy is summed in single precision: 1e-7, which may turn a last digit over.
    assert np.allclose(table(found), table(stored), rtol=0, atol=1.1e-4), f"the curve is now\n{found}and was\n{stored}"


def table(text: str) -> list[list[float]]:
    return [[float(number) for number in line.split()] for line in text.splitlines()]


class Few:
    """A corpus that fits into one batch; validation is what was trained with."""

    def splits(self) -> list[str]:
        return ["train", "val"]

    def pairs(self, split: str) -> list[Pair]:
        return [
            Pair("a dog", "un chien"),
            Pair("a cat", "un chat"),
            Pair("the dog sees a cat", "le chien voit un chat"),
            Pair("the cat sees the dog", "le chat voit le chien"),
            Pair("no", "non"),
        ]

    def describe(self) -> dict[str, object]:
        return {}

    def measures(self, split: str, outputs: list[str]) -> dict[str, float]:
        return {}

    def alignments(self, split: str) -> None:
        return None


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("optimizer", ["adam", "adamw"])
def test_one_batch_is_learned_by_heart(tmp_path: Path, precision: Any, optimizer: Any) -> None:
    task = Translation(Few(), vocabulary=32, kind="word", smoothing=0.0, judge="exact")
    plan = Plan(
        steps=60,
        rate=1e-2,
        warmup=5,
        precision=precision,
        optimizer=optimizer,
        decay=0.01,
        look_every=30,
        save_every=60,
    )
    found = Trained(task, plan, tmp_path)
    first, last = log(tmp_path)
    assert found.scores["exact"].value == 100
    assert last["train"]["nll"] < 0.2 < first["train"]["nll"]
    assert {parameter.dtype for parameter in found.model.parameters()} == {torch.float32}
    assert {x.dtype for x in found.kept(60).values()} == {torch.float32}


@pytest.mark.parametrize("order", ["copy", "reverse", "sort"])
def test_digits_are_learned_so_far_that_unseen_ones_come_out_right(tmp_path: Path, order: Order) -> None:
    task = digits(order, longest=6, train=4000)
    plan = Plan(steps=700, batch=400, rate=1e-2, warmup=30, look_every=700, save_every=700, draw_every=1000)
    found = Trained(task, plan, tmp_path, small(prepared(task), 32))
    assert found.scores["exact"].value >= 75


def prepared(task: Translation) -> Translation:
    task.prepare()
    return task


# Batches, and what they are divided by.


def halves(task: Translation, share: int) -> Callable[..., Iterator[PairBatch]]:
    """Return batches of ten pairs, the longest last: whole, or cut in two where the lengths differ."""

    def batches(split: str, *, seed: int, step: int, size: int) -> Iterator[PairBatch]:
        rows = task.rows(split)
        if split != "train":
            yield pair_batch(rows, np.arange(len(rows.source)))
            return
        while True:
            chosen = np.arange(10 * (step // share), 10 * (step // share) + 10) % len(rows.source)
            chosen = chosen[np.argsort(rows.target.lengths[chosen], kind="stable")]
            for part in [chosen] if share == 1 else [chosen[:7], chosen[7:]]:
                yield pair_batch(rows, part)
            step += share

    return batches


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_two_halves_accumulated_are_one_whole_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, smoothing: float
) -> None:
    ended = []
    for share in (1, 2):
        task = digits(longest=6, smoothing=smoothing)
        monkeypatch.setattr(task, "batches", halves(task, share))
        plan = Plan(steps=5, accumulate=share, rate=1e-2, warmup=1, look_every=5, save_every=5, draw_every=1000)
        ended.append(Trained(task, plan, tmp_path / str(share), small(prepared(task)).double()))
    one, two = ended
    assert (one.progress.step, two.progress.step) == (5, 5)
    moved = max(float((x - one.begun.state_dict()[name]).abs().max()) for name, x in one.model.named_parameters())
    assert moved > 1e-2
    # Double precision, of which the cross-entropy keeps single: its gradient differs by 1e-7 at most.
    for (name, x), y in zip(one.model.named_parameters(), two.model.parameters(), strict=True):
        torch.testing.assert_close(x, y, rtol=0, atol=1e-6, msg=name)
    whole, parts = (log(tmp_path / share)[0]["train"] for share in ("1", "2"))
    assert whole == pytest.approx(parts, rel=1e-6)


def test_the_same_seed_is_the_same_run_and_another_is_another(tmp_path: Path) -> None:
    first, second, other = (
        Trained(digits(), Plan(**{**BRIEF.__dict__, "seed": seed}), tmp_path / name, None)
        for name, seed in (("first", 1), ("second", 1), ("other", 2))
    )
    assert all(torch.equal(x, second.parameters()[name]) for name, x in first.parameters().items())
    assert not all(torch.equal(x, other.parameters()[name]) for name, x in first.parameters().items())


# The learning rate.


def test_schedules_are_what_the_paper_and_their_names_say() -> None:
    at = {
        schedule: [rate(Plan(steps=8, rate=2.0, schedule=schedule, warmup=4), step) for step in (1, 2, 4, 8)]
        for schedule in ("paper", "cosine", "linear", "constant")
    }
    assert at["paper"] == pytest.approx([0.5, 1.0, 2.0, 2 * math.sqrt(4 / 8)])
    # Four of the five parts of the way from step 4 to step 9, where nothing is left.
    assert at["cosine"] == pytest.approx([0.5, 1.0, 2.0, 1 + math.cos(math.pi * 4 / 5)])
    assert at["linear"] == pytest.approx([0.5, 1.0, 2.0, 2 / 5])
    assert at["constant"] == pytest.approx([0.5, 1.0, 2.0, 2.0])


@pytest.mark.parametrize("step", [1, 17, 4000, 100_000])
def test_the_paper_schedule_is_the_formula_of_the_paper(step: int) -> None:
    # Attention Is All You Need, eq. 3.
    plan = Plan(schedule="paper", warmup=4000, rate=512**-0.5 * 4000**-0.5)
    assert rate(plan, step) == pytest.approx(512**-0.5 * min(step**-0.5, step * 4000**-1.5))


@pytest.mark.parametrize("warmup", [0, 4])
@pytest.mark.parametrize("schedule", ["paper", "cosine", "linear", "constant"])
def test_the_first_step_is_as_long_as_the_schedule_says(tmp_path: Path, schedule: Any, warmup: int) -> None:
    plan = Plan(steps=1, rate=0.01, schedule=schedule, warmup=warmup, clip=0.0)
    found = Trained(digits(), plan, tmp_path)
    moves = [x - y for x, y in zip(found.model.parameters(), found.begun.parameters(), strict=True)]
    # Adam's first step is rate · g/|g|; far above float32's rounding of the parameters, about 1e-7.
    assert max(float(move.detach().abs().max()) for move in moves) == pytest.approx(rate(plan, 1), rel=1e-3)
    assert log(tmp_path)[0]["rate"] == rate(plan, 1)


def test_a_rate_of_nothing_changes_nothing(tmp_path: Path) -> None:
    found = Trained(digits(), Plan(**{**BRIEF.__dict__, "rate": 0.0}), tmp_path)
    assert all(torch.equal(x, y) for x, y in zip(found.model.parameters(), found.begun.parameters(), strict=True))


def test_the_clock_leaves_the_schedule_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Trained(digits(), BRIEF, tmp_path / "whole")
    now = iter(range(1_000_000))
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: next(now), perf_counter=time.perf_counter))
    # The clock is read twice a step: half an hour has passed in the 15th.
    found = Trained(digits(), Plan(**{**BRIEF.__dict__, "minutes": 0.5}), tmp_path / "half")
    assert found.stopped == "minutes"
    assert 10 <= found.progress.step < 20
    looks = log(tmp_path / "half")
    for line in (looks[0], log(tmp_path / "whole")[0]):
        for name in ("tokens_per_second", "loading_share", "seconds"):
            del line[name]
    assert len(looks) == 1
    assert looks[0]["rate"] == rate(BRIEF, 10)
    assert (tmp_path / "half" / "curves.png").exists()


# The gradient, and what decays.


@pytest.mark.parametrize("clip", [0.0, 1e-3])
def test_a_gradient_is_cut_to_the_norm_that_was_asked_for(tmp_path: Path, clip: float) -> None:
    found = Trained(digits(), Plan(steps=1, clip=clip, warmup=1), tmp_path)
    averages = [x for name, x in found.kept(1, "optimizer").items() if name.endswith("/exp_avg")]
    norm = math.sqrt(sum(float(x.square().sum()) for x in averages)) / (1 - 0.9)  # Adam keeps a tenth of the first
    if clip:
        assert norm == pytest.approx(clip, rel=1e-3)
    else:
        assert norm > 0.1


def test_matrices_decay_and_vectors_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = digits()
    loss = task.loss

    def nothing(model: nn.Module, batch: PairBatch, step: int) -> Loss:
        return Loss({name: term._replace(total=term.total * 0) for name, term in loss(model, batch, step).items()})

    monkeypatch.setattr(task, "loss", nothing)
    plan = Plan(steps=1, rate=0.1, schedule="constant", warmup=0, optimizer="adamw", decay=0.5)
    found = Trained(task, plan, tmp_path)
    for (name, before), after in zip(found.begun.named_parameters(), found.model.parameters(), strict=True):
        torch.testing.assert_close(after, before * (0.95 if before.dim() > 1 else 1), msg=name)


# Which parameters are left in the end.


@pytest.mark.parametrize(
    ("average", "steps"), [("last:3", [16, 18, 20]), ("last:1", [20]), ("last:99", range(2, 21, 2))]
)
def test_the_last_checkpoints_are_averaged(tmp_path: Path, average: str, steps: list[int]) -> None:
    plan = Plan(**{**BRIEF.__dict__, "average": average, "save_every": 2, "keep": 1, "best": 0})
    found = Trained(digits(), plan, tmp_path)
    assert checkpoints.steps(tmp_path / "checkpoints") == [*steps]
    averaged(found, [*steps])


@pytest.mark.parametrize(
    ("average", "steps"), [("best:1", [8]), ("best:3", [4, 6, 8]), ("best:4", [4, 6, 8, 14]), ("none", [8])]
)
def test_the_best_checkpoints_are_averaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, average: str, steps: list[int]
) -> None:
    task = digits()
    # Of equal scores, the earlier is the better one.
    judged(monkeypatch, task, [1, 5, 6, 7, 2, 2, 3, 3, 3, 1])
    plan = Plan(**{**BRIEF.__dict__, "average": average, "look_every": 2, "save_every": 2, "keep": 1})
    found = Trained(task, plan, tmp_path)
    assert (found.progress.best, found.progress.best_step) == (7, 8)
    assert checkpoints.steps(tmp_path / "checkpoints") == sorted({*steps, 20})
    averaged(found, steps)


def judged(monkeypatch: pytest.MonkeyPatch, task: Translation, values: list[float]) -> None:
    """Let the looks of a run find these scores; after them, the last one."""
    left = iter(values)
    monkeypatch.setattr(task, "evaluate", lambda model, split, most: {"exact": Score(next(left, values[-1]))})


def averaged(found: Trained, steps: list[int]) -> None:
    """The run has the mean of the parameters at some steps, in its file and in its model."""
    kept = [found.kept(step) for step in steps]
    for name, x in found.model.named_parameters():
        mean = sum(checkpoint[name].double() for checkpoint in kept) / len(kept)
        assert torch.equal(found.parameters()[name], x)
        torch.testing.assert_close(x.detach().double(), mean, rtol=0, atol=1e-7)  # float32, of numbers up to one


def test_without_better_scores_a_run_stops_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = digits()
    judged(monkeypatch, task, [1, 5, 2, 6, 6, 4, 5, 9, 9, 9])
    plan = Plan(**{**BRIEF.__dict__, "patience": 3, "look_every": 2, "save_every": 2, "keep": 99})
    found = Trained(task, plan, tmp_path)
    # Equal is not better: the looks at 10, 12 and 14 are the three in vain.
    assert (found.stopped, found.progress.step, found.progress.best_step) == ("patience", 14, 8)
    averaged(found, [8])


def test_a_score_that_is_no_number_is_never_the_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = digits()
    judged(monkeypatch, task, [math.nan, -2, math.nan, -1])
    found = Trained(task, Plan(**{**BRIEF.__dict__, "look_every": 4, "save_every": 4, "keep": 9}), tmp_path)
    assert (found.progress.best, found.progress.best_step) == (-1, 16)
    averaged(found, [16])
    assert [line["val"]["exact"] for line in log(tmp_path)] == [None, -2, None, -1, -1]


def test_without_a_look_the_last_parameters_stay(tmp_path: Path) -> None:
    plan = Plan(**{**BRIEF.__dict__, "minutes": 1e-9})
    found = Trained(digits(), plan, tmp_path)
    assert (found.stopped, found.progress, log_exists(tmp_path)) == ("minutes", Progress(seconds=0.0), False)
    assert all(torch.equal(x, found.parameters()[name]) for name, x in found.begun.named_parameters())


def log_exists(out: Path) -> bool:
    return (out / "log.jsonl").exists()
