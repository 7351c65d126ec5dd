"""A run that was stopped, at any instant and in any way, ends as the run that never was: every file, but for times."""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from regard.tasks.task import Loss
from regard.tasks.translation import Translation
from regard.training import checkpoints, files, loop
from regard.training.interruption import Interrupted
from tests.lives import Life, Lives
from tests.runs import log, told, trained, words, written

KILLS = 10


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    with Lives() as lives:
        yield lives


class Whole:
    """The run that was never stopped, and how it lived."""

    def __init__(self, life: Life, run: Path) -> None:
        assert life.code == 0, life.err
        self.life, self.told = life, told(run)


@pytest.fixture(scope="module")
def whole(lives: Lives, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    out = tmp_path_factory.mktemp("whole") / "run"
    lives.live(words(data, out), watched=out)  # the first life is slower: it fills the caches of the libraries
    shutil.rmtree(out)
    return Whole(lives.live(words(data, out), watched=out), out)


def gone_on(lives: Lives, data: Path, out: Path, **end: Any) -> Life:
    """Begin the run or go on with it, as its folder allows."""
    more = ["--resume"] if (out / "run.json").exists() else []
    return lives.live([*words(data, out), *more], watched=out, **end)


def same(out: Path, whole: Whole) -> None:
    found = told(out)
    assert sorted(found) == sorted(whole.told)
    assert [name for name in found if found[name] != whole.told[name]] == []


def test_two_equal_runs_are_the_same_in_every_file(lives: Lives, data: Path, tmp_path: Path, whole: Whole) -> None:
    out = tmp_path / "run"
    assert gone_on(lives, data, out).code == 0
    same(out, whole)
    names = {name.split("/")[0] for name in whole.told}
    assert {"log.jsonl", "events", "samples.txt", "curves.png", "model.safetensors", "checkpoints"} <= names
    assert len(whole.told["log.jsonl"]) == 3
    drawn = {(step, name): value for step, name, value in whole.told["events"]}
    for line in log(out):
        for part in ("train", "val"):
            for name, value in line[part].items():
                assert drawn.pop((line["step"], f"{part}/{name}")) == pytest.approx(value, rel=1e-6)  # float32
        assert drawn.pop((line["step"], "rate")) == pytest.approx(line["rate"], rel=1e-6)
    assert not drawn


@pytest.mark.parametrize("kill", range(KILLS))
def test_killed_at_a_random_instant(lives: Lives, data: Path, tmp_path: Path, whole: Whole, kill: int) -> None:
    share = (kill + random.Random(kill).random()) / KILLS
    for attempt in range(20):
        out = tmp_path / f"run{attempt}"
        life = gone_on(lives, data, out, after=share * whole.life.seconds)
        if life.code == -signal.SIGKILL:
            break
        share *= 0.8  # this machine has become faster, and the run was done
    assert life.code == -signal.SIGKILL
    assert gone_on(lives, data, out).code == 0
    same(out, whole)


def test_killed_again_and_again_at_random_operations_on_its_files(
    lives: Lives, data: Path, tmp_path: Path, whole: Whole
) -> None:
    out, draw = tmp_path / "run", random.Random(1)
    ends = []
    while (life := gone_on(lives, data, out, at=draw.randint(1, whole.life.operations // 3))).code:
        assert life.code == -signal.SIGKILL, life.err
        newest = checkpoints.steps(out / "checkpoints")[-1:]
        assert [checkpoints.damaged(checkpoints.path_of(out / "checkpoints", step)) for step in newest] == [""] * len(
            newest
        )
        ends.append(newest)
    assert len(ends) >= 5
    same(out, whole)


def test_killed_at_each_operation_of_a_checkpoint(lives: Lives, data: Path, tmp_path: Path, whole: Whole) -> None:
    # From the middle of the run on, where a checkpoint is being written or removed.
    begin = tmp_path / "begin"
    middle = whole.life.operations // 2
    assert gone_on(lives, data, begin, at=middle).code == -signal.SIGKILL
    for at in random.Random(2).sample(range(20, 60), 6):
        out = tmp_path / "run"
        shutil.copytree(begin, out)
        assert gone_on(lives, data, out, at=at).code == -signal.SIGKILL
        assert gone_on(lives, data, out).code == 0
        same(out, whole)
        shutil.rmtree(out)


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_saves_and_leaves(lives: Lives, data: Path, tmp_path: Path, whole: Whole, end: signal.Signals) -> None:
    out = tmp_path / "run"
    draw = random.Random(int(end))
    for at in draw.sample(range(whole.life.operations // 4, whole.life.operations // 2), 2):
        life = gone_on(lives, data, out, end=end, at=at)
        assert life.code == 128 + end
        assert life.err.splitlines()[-1] == f"stopped by {end.name}; everything is saved"
        assert life.out == ""
    assert gone_on(lives, data, out).code == 0
    same(out, whole)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("average", ["none", "best:2"])
def test_a_run_that_the_clock_stopped_goes_on(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: str, average: str
) -> None:
    options = {"precision": precision, "average": average, "optimizer": "adamw", "decay": 0.1, "accumulate": 2}
    trained(data, tmp_path / "run", **options)
    expected = told(tmp_path / "run")
    shutil.rmtree(tmp_path / "run")
    now = iter(range(1_000_000))
    clock = SimpleNamespace(monotonic=lambda: next(now), perf_counter=time.perf_counter)
    with monkeypatch.context() as patch:
        patch.setattr(loop, "time", clock)
        # A clock that is read twice a step: this is in the 13th.
        found = trained(data, tmp_path / "run", **options, minutes=25 / 60)
    assert found["stopped"] == "minutes"
    assert 5 < found["steps"] < 25
    assert found["steps"] % 5
    found = trained(data, tmp_path / "run", **options, minutes=0, resume=True)
    assert found["stopped"] == "steps"
    ended = told(tmp_path / "run")
    for record in (ended["run.json"], expected["run.json"]):
        record["plan_flags"].pop("minutes", None)
    assert sorted(ended) == sorted(expected)
    assert [name for name in ended if ended[name] != expected[name]] == []


def test_a_run_that_is_done_stays_as_it_is(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = trained(data, out)
    expected = told(out)
    again = trained(data, out, resume=True)
    assert told(out) == expected
    assert {name: again[name] for name in ("steps", "best", "scores")} == {
        name: first[name] for name in ("steps", "best", "scores")
    }


@pytest.mark.parametrize("schedule", ["constant", "cosine"])
def test_more_steps_extend_a_run(data: Path, tmp_path: Path, schedule: str) -> None:
    out = tmp_path / "run"
    trained(data, out, steps=20, schedule=schedule, average="none")
    before = log(out)
    found = trained(data, out, steps=40, schedule=schedule, average="none", resume=True)
    assert found["steps"] == 40
    assert log(out)[:2] == before
    assert [line["step"] for line in log(out)] == [10, 20, 30, 40]
    rates = [line["rate"] for line in log(out)]
    if schedule == "constant":
        assert len({*rates}) == 1
        # What does not know how far it goes is the same run in two parts and in one.
        expected = tmp_path / "expected"
        trained(data, expected, steps=40, schedule=schedule, average="none")
        parts = [{k: v for k, v in told(path).items() if k != "run.json"} for path in (out, expected)]
        assert [name for name in parts[0] if parts[0][name] != parts[1][name]] == []
    else:
        assert rates[1] < 1e-4 < rates[2]  # it had come down to the end of 20 steps, and is now in the middle of 40
        assert rates[3] < 1e-4
    record = json.loads((out / "run.json").read_text())
    assert record["plan"]["steps"] == record["plan_flags"]["steps"] == record["result"]["steps"] == 40


def test_an_interruption_leaves_what_is_averaged_alone(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    trained(data, out)
    expected = told(out)
    shutil.rmtree(out)
    for stop in (23, 24, 29):
        stop_after(monkeypatch, stop)
        with pytest.raises(Interrupted):
            trained(data, out, resume=out.exists())
        assert checkpoints.steps(out / "checkpoints")[-1] == stop
        monkeypatch.undo()
    trained(data, out, resume=True)
    assert [name for name, value in told(out).items() if value != expected.get(name)] == []
    assert checkpoints.steps(out / "checkpoints") == [10, 20, 25, 30]


def stop_after(monkeypatch: pytest.MonkeyPatch, stop: int) -> None:
    """Send SIGTERM to this process during a step."""
    loss = Translation.loss

    def stopping(self: Translation, model: Any, batch: Any, step: int) -> Loss:
        if step == stop:
            signal.raise_signal(signal.SIGTERM)
        return loss(self, model, batch, step)

    monkeypatch.setattr(Translation, "loss", stopping)


def test_a_run_begun_with_another_goes_on_without_it(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, out = tmp_path / "other", tmp_path / "run"
    trained(data, other, seed=7)
    trained(data, out, start=str(other))
    expected = told(out)
    shutil.rmtree(out)
    with monkeypatch.context() as patch:
        patch.setattr(loop, "train", lambda *_: stop())
        with pytest.raises(KeyboardInterrupt):
            trained(data, out, start=str(other))
    shutil.rmtree(other)
    trained(data, out, resume=True)
    found = told(out)
    assert [name for name in found if found[name] != expected[name]] == []


@pytest.mark.parametrize(
    "missing", ["checkpoints", "checkpoints config.json", "checkpoints config.json tokenizer.json"]
)
def test_a_run_begun_with_another_and_stopped_before_it_had_everything_begins_again(
    data: Path, tmp_path: Path, missing: str
) -> None:
    other, out = tmp_path / "other", tmp_path / "run"
    trained(data, other, seed=7)
    trained(data, out, start=str(other))
    expected = told(out)
    for name in (*missing.split(), "log.jsonl", "samples.txt", "model.safetensors"):
        files.discard(out / name)
    trained(data, out, resume=True)
    found = told(out)
    assert [name for name in found if found[name] != expected[name]] == []


def stop() -> None:
    raise KeyboardInterrupt


# A full disk.


def test_a_file_is_flushed_before_it_takes_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def flushed(handle: int) -> None:
        done.append(Path(f"/proc/self/fd/{handle}").resolve().name)
        fsync(handle)

    def replaced(self: Path, target: Path) -> Path:
        done.append(f"{self.name} → {target.name}")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(Path, "replace", replaced)

    def write(aside: Path) -> None:
        aside.mkdir()
        (aside / "inner").write_text("new")

    files.whole(tmp_path / "folder", write)
    assert done == ["inner", ".folder.part", ".folder.part → folder", tmp_path.name]


def test_a_file_that_cannot_be_written_leaves_the_one_before_it(tmp_path: Path) -> None:
    files.write_json(tmp_path / "x.json", {"a": 1})

    def write(aside: Path) -> None:
        aside.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left on device: '.*x.json'"):
        files.whole(tmp_path / "x.json", write)
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
    assert files.read_json(tmp_path / "x.json") == {"a": 1}


def survived(out: Path) -> list[int]:
    """Return the steps of the checkpoints, all of them whole."""
    steps = checkpoints.steps(out / "checkpoints")
    assert [checkpoints.damaged(checkpoints.path_of(out / "checkpoints", step)) for step in steps] == [""] * len(steps)
    return steps


@pytest.mark.parametrize(
    ("largest", "file"), [(1_000, "run.json"), (20_000, "checkpoints/step-00000005"), (40_000, "curves.png")]
)
def test_a_file_that_grows_too_large_is_named(
    lives: Lives, data: Path, tmp_path: Path, whole: Whole, largest: int, file: str
) -> None:
    out = tmp_path / "run"
    life = gone_on(lives, data, out, largest=largest)
    assert life.code == 1
    assert life.err.splitlines()[-1] == f"{out / file}: file too large"
    assert "Traceback" not in life.err
    assert life.out == ""
    survived(out)
    assert gone_on(lives, data, out).code == 0
    same(out, whole)


@pytest.mark.parametrize("kilobytes", [64, 160, 256])
def test_a_full_disk_leaves_the_last_checkpoint_whole(data: Path, tmp_path: Path, whole: Whole, kilobytes: int) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size={kilobytes}k tmpfs {disk}"
    within = ["unshare", "--user", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*within, "sh", "-c", mount], capture_output=True).returncode:
        pytest.skip("a small disk needs the right to mount one: unshare --user --mount")
    with Lives(*within, "sh", "-c", f'{mount} && exec "$@"', "sh") as lives:
        out = disk / "run"
        seen = Path(f"/proc/{lives.process.pid}/root{out}")
        life = lives.live(words(data, out), watched=out)
        assert life.code == 1
        assert life.err.splitlines()[-1].endswith(": no space left on device")
        assert life.err.splitlines()[-1].startswith(str(disk))
        assert "Traceback" not in life.err
        assert life.out == ""
        survived(seen)
        assert lives.ask({"shell": f"mount -o remount,size=10m {disk}"}) == 0
        more = ["--resume"] if (seen / "run.json").exists() else []
        assert lives.live([*words(data, out), *more], watched=out).code == 0
        same(seen, whole)


# A gradient that is not finite.


def poison(monkeypatch: pytest.MonkeyPatch, steps: set[int], how: str) -> None:
    """Make the loss of some steps infinite, or its gradient alone."""
    loss = Translation.loss

    def poisoned(self: Translation, model: Any, batch: Any, step: int) -> Loss:
        found = loss(self, model, batch, step)
        if step not in steps:
            return found
        term = found["loss"]
        if how == "loss":
            return Loss({**found, "loss": term._replace(total=term.total * torch.inf)})
        # The root of nothing is 0, and its slope is infinite.
        return Loss({**found, "loss": term._replace(total=term.total + (term.total * 0).sqrt())})

    monkeypatch.setattr(Translation, "loss", poisoned)


@pytest.mark.parametrize("how", ["loss", "gradient"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_gradient_that_is_not_finite_never_reaches_the_parameters(
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    how: str,
    precision: str,
) -> None:
    out = tmp_path / "run"
    poison(monkeypatch, {7, 8}, how)
    trained(data, out, save_every=1, keep=30, steps=12, precision=precision, average="none")
    before, after, later = [
        files.read_tensors(checkpoints.path_of(out / "checkpoints", step) / "model.safetensors") for step in (6, 8, 9)
    ]
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert not all(torch.equal(before[name], later[name]) for name in before)
    said = capsys.readouterr().err
    assert "step 7: the loss is" in said
    assert str(out / "refused" / "step-00000007.safetensors") in said
    assert [path.name for path in sorted((out / "refused").iterdir())] == [
        "step-00000007.safetensors",
        "step-00000008.safetensors",
    ]
    kept = files.read_tensors(out / "refused" / "step-00000007.safetensors")
    assert {"0/source_BS", "0/target_BT", "0/labels_BT"} <= set(kept)
    # What was refused is in no mean, and in no speed.
    assert all(0 < line["train"]["loss"] < 10 for line in log(out))


def test_three_in_a_row_stop_the_run_whatever_stopped_it_between(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    poison(monkeypatch, {9, 10, 11}, "loss")
    trained(data, out, steps=10)
    for _ in range(2):  # it says so again, as often as it is asked
        with pytest.raises(ValueError, match=r"3 updates in a row had no finite gradient, the last at step 11; their"):
            trained(data, out, steps=20, resume=True)
    assert checkpoints.steps(out / "checkpoints")[-1] == 10
    monkeypatch.undo()
    assert trained(data, out, steps=20, resume=True)["steps"] == 20


def test_two_in_a_row_twice_do_not_stop_the_run(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    poison(monkeypatch, {3, 4, 6, 7}, "gradient")
    assert trained(data, tmp_path / "run", steps=10)["steps"] == 10
