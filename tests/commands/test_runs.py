"""Run folders from the command line: what they tell, what they keep, and how each way of being wrong is said."""

import hashlib
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

import regard as package
from regard.training import checkpoints, files
from regard.training.folder import RunFolder
from tests.conftest import Regard
from tests.runs import FLAGS, PLAN, log, told, trained, words, written

# Quick to train: two looks and no average.
SHORT: dict[str, Any] = {"steps": 20, "average": "none"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def done(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is done. It stays as it is: what changes a run takes a copy."""
    out = tmp_path_factory.mktemp("done") / "run"
    trained(data, out, **SHORT)
    return out


@pytest.fixture
def run(done: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(done, tmp_path / "run"))


def refused(regard: Regard, *command: object, code: int = 1) -> str:
    """Return the one sentence that a command ends in."""
    answer = regard(*command)
    assert answer.code == code, answer.err
    assert answer.out == ""
    lines = answer.err.splitlines()
    assert len(lines) == 1, answer.err
    assert "not expected" not in lines[0]
    return lines[0]


# What a run tells.


def test_a_run_tells_its_whole_story(done: Path, data: Path) -> None:
    record = files.read_json(done / "run.json")
    assert record["recipe"] == "translate"
    assert record["flags"] == {"data": {"place": str(data), "columns": "", "skip_bad": False}, **FLAGS}
    assert record["plan_flags"] == {**PLAN, **SHORT}
    assert record["plan"] | record["plan_flags"] == record["plan"]
    assert record["plan"]["seed"] == 1
    sums = {name: fingerprint["sha256"] for name, fingerprint in record["data"]["files"].items()}
    assert sums == {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(data.iterdir())}
    assert {"regard", "python", "torch", "numpy", "tokenizers", "safetensors", "sacrebleu"} <= set(record["versions"])
    assert record["versions"]["regard"] == package.__version__
    assert record["versions"]["torch"] == torch.__version__
    result, lines = record["result"], log(done)
    best = max(lines, key=lambda line: (line["val"]["bleu"], -line["step"]))
    assert result["best"] == {"step": best["step"], "score": best["val"]["bleu"]}
    assert result["seconds"] > 0
    assert (result["steps"], result["stopped"]) == (20, "steps")


def test_a_line_of_the_log_tells_step_loss_rate_speed_and_scores(done: Path) -> None:
    assert [line["step"] for line in log(done)] == [10, 20]
    for line in log(done):
        assert {"step", "rate", "train", "val", "tokens_per_second", "seconds"} <= set(line)
        assert {"loss", "nll"} <= set(line["train"])
        assert list(line["val"])[:2] == ["bleu", "chrf"]
        assert line["tokens_per_second"] > 0


def test_others_can_read_the_files(done: Path) -> None:
    sizes = files.read_json(done / "config.json")
    assert Tokenizer.from_file(str(done / "tokenizer.json")).get_vocab_size() == sizes["sizes"]["vocabulary"]
    tensors = load_file(done / "model.safetensors")
    assert sum(x.numel() for x in tensors.values()) == sizes["parameters"]
    assert (done / "curves.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    samples = (done / "samples.txt").read_text().split("== step ")
    assert [sample.split("\n")[0] for sample in samples] == ["", "10", "20"]
    assert all(sample.count("  → ") == sample.count("  = ") == 4 for sample in samples[1:])


def test_standard_output_has_the_result_alone(regard: Regard, data: Path, tmp_path: Path) -> None:
    answer = regard(*words(data, tmp_path / "run", **SHORT), "--json")
    assert answer.code == 0
    result = json.loads(answer.out)
    assert result["steps"] == 20
    assert result["best"] == files.read_json(tmp_path / "run" / "run.json")["result"]["best"]
    assert answer.err.count("  val: ") == 2


def test_a_run_opens_and_answers_without_its_data(regard: Regard, run: Path, tmp_path: Path) -> None:
    elsewhere = written(tmp_path / "data")
    out = tmp_path / "short"
    trained(elsewhere, out, **SHORT)
    shutil.rmtree(elsewhere)
    assert len(package.open(out).translate(["one two", "three"])) == 2
    assert regard("translate", out, "one two").code == 0
    assert json.loads(regard("show", out, "--json").out)["parameters"] > 0


def test_a_run_that_is_moved_is_still_the_same(regard: Regard, run: Path, done: Path) -> None:
    texts = ["one two three", "seven"]
    assert package.open(run).translate(texts) == package.open(str(done)).translate(texts)


# One folder, one run.


def test_a_folder_with_a_run_is_refused(regard: Regard, data: Path, run: Path) -> None:
    before = told(run)
    said = refused(regard, *words(data, run, **SHORT))
    assert said == f"{run} holds a run already; use --resume to go on with it, --overwrite, or another --out"
    assert told(run) == before


def test_overwrite_replaces_a_run(regard: Regard, data: Path, run: Path, tmp_path: Path) -> None:
    (run / "checkpoints" / "step-00099999").mkdir()
    (run / "tokenizer.source.json").touch()
    assert regard(*words(data, run, **SHORT, seed=2), "--overwrite").code == 0
    trained(data, tmp_path / "new", **SHORT, seed=2)
    assert told(run) == told(tmp_path / "new")


@pytest.mark.parametrize("more", [[], ["--overwrite"]])
def test_a_folder_with_something_else_is_left_alone(
    regard: Regard, data: Path, tmp_path: Path, more: list[str]
) -> None:
    mine = tmp_path / "home"
    (mine / ".git").mkdir(parents=True)
    (mine / "thesis.txt").write_text("years of work")
    said = refused(regard, *words(data, mine, **SHORT), *more)
    assert said == f"{mine} holds no run, but .git, thesis.txt; choose another --out"
    assert sorted(path.name for path in mine.iterdir()) == [".git", "thesis.txt"]


def test_a_run_is_not_lost_to_a_mistake_in_what_overwrites_it(regard: Regard, data: Path, run: Path) -> None:
    before = told(run)
    refused(regard, *words(data / "absent", run, **SHORT), "--overwrite")
    for wrong in ({"vocabulary": 2}, {"rate": -1}, {"heads": 3}, {"device": "abacus"}):
        refused(regard, *words(data, run, **{**SHORT, **wrong}), "--overwrite")
    refused(regard, *words(data, run, **SHORT), "--overwrite", "--from", "absent")
    assert told(run) == before


def test_a_run_may_begin_with_itself(regard: Regard, data: Path, run: Path) -> None:
    parameters = load_file(run / "model.safetensors")
    assert regard(*words(data, run, **SHORT, rate=0), "--overwrite", "--from", run).code == 0
    assert all(torch.equal(x, parameters[name]) for name, x in load_file(run / "model.safetensors").items())


@pytest.mark.parametrize("more", [[], ["--resume"], ["--overwrite"]])
def test_a_second_trainer_in_a_folder_is_refused(regard: Regard, data: Path, run: Path, more: list[str]) -> None:
    before = told(run)
    first = RunFolder(run)
    first.take()
    said = refused(regard, *words(data, run, **SHORT), *more)
    assert said == f"another process is training in {run}; wait for it, or choose another --out"
    assert told(run) == before
    first.release()
    assert regard(*words(data, run, **SHORT), "--resume").code == 0


# Going on.


def test_there_must_be_a_run_to_go_on_with(regard: Regard, data: Path, tmp_path: Path) -> None:
    said = refused(regard, *words(data, tmp_path / "new", **SHORT), "--resume")
    assert said == f"{tmp_path / 'new'} holds no run to resume; leave --resume away to begin one"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("flag", "value", "was"),
    [
        ("width", 16, "with 8"),
        ("dropout", 0.2, "with 0.1"),
        ("seed", 2, "with 1"),
        ("rate", 0.5, "with 0.01"),
        ("look_every", 5, "with 10"),
        ("precision", "bfloat16", "with float32"),
        ("positions", "learned", "with interleaved"),
    ],
)
def test_a_changed_flag_is_refused_by_name(
    regard: Regard, data: Path, run: Path, flag: str, value: Any, was: str
) -> None:
    before = told(run)
    said = refused(regard, *words(data, run, **{**SHORT, flag: value}), "--resume")
    shown = flag.replace("_", "-")
    assert said == (
        f"--{shown} {value} cannot be used with --resume: the run was begun {was}; "
        "only --steps and --minutes may change"
    )
    assert told(run) == before


@pytest.mark.parametrize("flag", ["from", "like", "tokenizer"])
def test_where_a_run_began_cannot_change(regard: Regard, data: Path, run: Path, done: Path, flag: str) -> None:
    said = refused(regard, *words(data, run, **SHORT), "--resume", f"--{flag}", done)
    assert said.startswith(f"--{flag} {done} cannot be used with --resume: the run was begun without it")


def test_a_run_goes_on_without_being_told_its_flags(regard: Regard, run: Path, data: Path) -> None:
    assert regard("train", "translate", "--out", run, "--resume", "--steps", 30).code == 0
    assert log(run)[-1]["step"] == 30
    assert refused(regard, "train", "reverse", "--out", run, "--resume") == (
        f"{run} holds a run of translate, which cannot go on as reverse"
    )
    assert refused(regard, "train", "translate", "--out", run, "--resume", "--steps", 25) == (
        "--steps 25 lies behind the run, which has come to step 30"
    )


def test_other_data_are_refused(regard: Regard, tmp_path: Path) -> None:
    data, out = written(tmp_path / "data"), tmp_path / "run"
    trained(data, out, **SHORT)
    before = told(out)
    text = (data / "train.fr").read_text()
    (data / "train.fr").write_text(text.replace("one", "two", 1))
    said = refused(regard, "train", "translate", "--out", out, "--resume", "--steps", 30)
    assert said == (
        f"the data of {out} have changed since it was begun ({data / 'train.fr'}); bring back what they were, "
        f"or begin another run with --from {out}"
    )
    assert told(out) == before
    (data / "train.fr").write_text(text)
    assert regard("train", "translate", "--out", out, "--resume", "--steps", 30).code == 0


# Beginning with another run.


def test_from_takes_parameters_and_vocabulary(regard: Regard, done: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "data", seed=2)
    (other / "train.en").write_text((other / "train.en").read_text().replace("seven", "eight"))
    out = tmp_path / "run"
    assert regard(*words(other, out, **SHORT, rate=0), "--from", done).code == 0
    assert (out / "tokenizer.json").read_bytes() == (done / "tokenizer.json").read_bytes()
    begun, before = load_file(out / "model.safetensors"), load_file(done / "model.safetensors")
    assert all(torch.equal(begun[name], before[name]) for name in before)
    assert files.read_json(out / "run.json")["from"] == str(done)
    assert log(out)[0]["step"] == 10


def test_from_a_run_that_does_not_fit(regard: Regard, data: Path, done: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    said = refused(regard, *words(data, out, **{**SHORT, "width": 16}), "--from", done)
    assert said.startswith(f"{done / 'model.safetensors'} does not fit the model: ")
    assert "has shape (" in said
    said = refused(regard, *words(data, out, **{**SHORT, "layers": 2}), "--from", done)
    assert "it lacks decoder.layers.1." in said
    said = refused(regard, *words(data, out, **SHORT), "--from", tmp_path / "absent")
    assert said.startswith(
        f"{tmp_path / 'absent' / 'config.json'} is missing: {tmp_path / 'absent'} is not a run folder"
    )
    said = refused(regard, *words(data, out, **SHORT), "--from", done, "--tokenizer", done)
    assert said == "--from takes over the run's vocabulary, and --tokenizer shares another; give one of them"
    assert regard(*words(data, out, **SHORT)).code == 0  # nothing stands in the way of a better try


def test_like_repeats_the_flags_of_a_run(regard: Regard, data: Path, done: Path, tmp_path: Path) -> None:
    assert regard("train", "translate", "--like", done, "--out", tmp_path / "same").code == 0
    found, expected = told(tmp_path / "same"), told(done)
    assert found["run.json"].pop("like") == str(done)
    del expected["run.json"]["like"]
    assert found == expected
    assert (
        regard("train", "translate", "--like", done, "--out", tmp_path / "other", "--seed", 5, "--width", 16).code == 0
    )
    record = files.read_json(tmp_path / "other" / "run.json")
    assert record["plan_flags"] == {**PLAN, **SHORT, "seed": 5}
    assert record["flags"] == {**expected["run.json"]["flags"], "width": 16}
    said = refused(regard, "train", "reverse", "--like", done, "--out", tmp_path / "third")
    assert said == f"{done} is a run of translate, and cannot be repeated as reverse"
    said = refused(regard, "train", "translate", "--like", tmp_path, "--out", tmp_path / "third")
    assert said == f"{tmp_path / 'run.json'} is missing: {tmp_path} is not a run folder, or a damaged one"


@pytest.mark.parametrize("origin", ["run", "file"])
def test_a_vocabulary_is_shared(regard: Regard, done: Path, tmp_path: Path, origin: str) -> None:
    other, out = written(tmp_path / "data", seed=2), tmp_path / "run"
    (other / "train.en").write_text((other / "train.en").read_text().replace("seven", "eight"))
    shared = done if origin == "run" else shutil.copy(done / "tokenizer.json", tmp_path / "mine.json")
    assert regard(*words(other, out, **SHORT), "--tokenizer", shared).code == 0
    assert (out / "tokenizer.json").read_bytes() == (done / "tokenizer.json").read_bytes()


def test_a_vocabulary_that_cannot_be_shared(regard: Regard, data: Path, done: Path, tmp_path: Path) -> None:
    command = words(data, tmp_path / "run", **SHORT)
    said = refused(regard, *command, "--tokenizer", tmp_path / "absent")
    assert said == f"--tokenizer {tmp_path / 'absent'} does not exist; give a run folder or a tokenizer.json"
    (tmp_path / "mine.json").write_text("{}")
    said = refused(regard, *command, "--tokenizer", tmp_path / "mine.json")
    assert said.startswith(f"--tokenizer {tmp_path / 'mine.json'} cannot be used: it is not a tokenizer.json")
    said = refused(regard, *command, "--tokenizer", done, "--no-joint")
    assert said.endswith("--joint")


# Damage.


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-len(content) // 3] ^= 1
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


Damage = Callable[[Path], None]
DAMAGES = pytest.mark.parametrize("damage", [cut, flip, empty, Path.unlink], ids=["cut", "flip", "empty", "missing"])


@DAMAGES
@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "progress.json"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_offered(
    regard: Regard, run: Path, name: str, damage: Damage
) -> None:
    newest = run / "checkpoints" / "step-00000020"
    damage(newest / name)
    expected = bytes_in(run)
    said = refused(regard, "train", "translate", "--out", run, "--resume")
    what = "is missing" if damage is Path.unlink else "is damaged: its SHA-256 is not the recorded one"
    assert said == (f"{newest / name} {what}; remove {newest} to go on from the checkpoint before it, step-00000015")
    assert bytes_in(run) == expected


def bytes_in(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*") if path.is_file()}


@pytest.mark.parametrize("damage", [cut, empty, Path.unlink], ids=["cut", "empty", "missing"])
def test_a_checkpoint_without_its_sums_is_damaged(regard: Regard, run: Path, damage: Damage) -> None:
    newest = run / "checkpoints" / "step-00000020"
    damage(newest / "sha256.json")
    said = refused(regard, "train", "translate", "--out", run, "--resume")
    assert said.startswith(f"{newest / 'sha256.json'} is ")
    assert said.endswith(f"; remove {newest} to go on from the checkpoint before it, step-00000015")


def test_a_run_goes_on_from_the_checkpoint_that_was_offered(regard: Regard, run: Path, done: Path) -> None:
    shutil.rmtree(run / "checkpoints" / "step-00000020")
    assert regard("train", "translate", "--out", run, "--resume").code == 0
    assert told(run) == told(done)


def test_where_no_whole_checkpoint_is_left_the_beginning_is_offered(regard: Regard, run: Path, done: Path) -> None:
    for path in (run / "checkpoints").iterdir():
        flip(path / "model.safetensors")
    said = refused(regard, "train", "translate", "--out", run, "--resume")
    assert said.endswith(
        f"there is no whole checkpoint before it; remove {run / 'checkpoints'} to go on from the beginning"
    )
    shutil.rmtree(run / "checkpoints")
    assert regard("train", "translate", "--out", run, "--resume").code == 0
    assert told(run) == told(done)


def test_a_damaged_checkpoint_is_not_averaged(regard: Regard, data: Path, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "averaged"
    trained(data, out, steps=20, average="last:3")
    flip(out / "checkpoints" / "step-00000015" / "model.safetensors")
    said = refused(regard, "train", "translate", "--out", out, "--resume")
    assert said == (
        f"{out / 'checkpoints' / 'step-00000015' / 'model.safetensors'} is damaged: its SHA-256 is not the recorded "
        f"one; remove {out / 'checkpoints' / 'step-00000015'} to average without it"
    )


@DAMAGES
def test_damaged_parameters_are_named(regard: Regard, run: Path, damage: Damage) -> None:
    damage(run / "model.safetensors")
    said = refused(regard, "translate", run, "one two")
    assert said.startswith(f"{run / 'model.safetensors'} is {'missing' if damage is Path.unlink else 'damaged'}: ")


def test_no_flipped_bit_of_the_parameters_goes_unnoticed(done: Path, tmp_path: Path) -> None:
    content = (done / "model.safetensors").read_bytes()
    path = tmp_path / "model.safetensors"
    whole, sentences = files.read_tensors(done / "model.safetensors"), set()
    for bit in random.Random(1).sample(range(8 * len(content)), 200):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            found = files.read_tensors(path)
        except ValueError as reason:
            sentences.add(str(reason).partition(": ")[0])
        else:  # such as a bit of what nobody reads: the spaces that fill up the header
            assert {name: x.shape for name, x in found.items()} == {name: x.shape for name, x in whole.items()}
            assert all(torch.equal(found[name], whole[name]) for name in whole)
    assert sentences == {f"{path} is damaged"}


@DAMAGES
def test_a_damaged_vocabulary_is_named(regard: Regard, run: Path, tmp_path: Path, data: Path, damage: Damage) -> None:
    damage(run / "tokenizer.json")
    what = "missing" if damage is Path.unlink else "damaged"
    for command in (["translate", run, "one"], [*words(data, tmp_path / "new", **SHORT), "--from", run]):
        assert refused(regard, *command).startswith(f"{run / 'tokenizer.json'} is {what}: ")


@pytest.mark.parametrize("name", ["config.json", "run.json"])
@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "is missing: "),
        (b"", "is damaged: it is not JSON"),
        (b'{"recipe": "trans', "is damaged: it is not JSON"),
        (b"\xff\xfe", "is damaged: it is not JSON"),
        (b"[1, 2]", "is damaged: it should hold an object, and holds [1, 2]"),
        (b"{}", "is damaged: it does not say 'recipe'"),
        (b'{"recipe": "translate"}', "is damaged: it does not say 'flags'"),
    ],
)
def test_damaged_descriptions_are_named(regard: Regard, run: Path, name: str, content: bytes | None, what: str) -> None:
    (run / name).unlink()
    if content is not None:
        (run / name).write_bytes(content)
    command: list[object] = ["translate", run, "one"]
    if name == "run.json":
        command = ["train", "translate", "--like", run, "--out", run / "new"]
    assert refused(regard, *command).startswith(f"{run / name} {what}")


def test_a_run_without_its_description_keeps_its_checkpoints(regard: Regard, run: Path) -> None:
    (run / "config.json").unlink()
    before = told(run)
    said = refused(regard, "train", "translate", "--out", run, "--resume")
    assert said == f"{run / 'config.json'} is missing: {run} is not a run folder, or a damaged one"
    assert told(run) == before


def test_a_run_of_another_version_is_one_sentence(regard: Regard, run: Path) -> None:
    config = files.read_json(run / "config.json")
    files.write_json(run / "config.json", {**config, "recipe": "telepathy"})
    assert refused(regard, "translate", run, "one").startswith("there is no recipe 'telepathy'; there are: copy, ")
    files.write_json(run / "config.json", {**config, "flags": {**config["flags"], "wings": 2}})
    said = refused(regard, "translate", run, "one")
    assert said == "recipe 'translate' has no flag 'wings'; was the run made by another version?"
    record = files.read_json(run / "run.json")
    files.write_json(run / "run.json", {**record, "plan": {**record["plan"], "wings": 2}})
    said = refused(regard, "train", "translate", "--out", run, "--resume")
    assert said == f"{run / 'run.json'} says 'wings', which no plan has; was the run made by another version?"


def test_parameters_of_another_shape_are_one_sentence(regard: Regard, run: Path) -> None:
    config = files.read_json(run / "config.json")
    files.write_json(run / "config.json", {**config, "flags": {**config["flags"], "width": 16}})
    assert refused(regard, "translate", run, "one").startswith(f"{run / 'model.safetensors'} does not fit the model: ")


def test_a_log_that_lost_its_end_is_named(regard: Regard, run: Path) -> None:
    cut(run / "log.jsonl")
    said = refused(regard, "train", "translate", "--out", run, "--resume", "--steps", 30)
    assert said == f"{run / 'log.jsonl'} is damaged: its end is missing; remove it to go on without it"
    (run / "log.jsonl").unlink()
    assert regard("train", "translate", "--out", run, "--resume", "--steps", 30).code == 0
    assert [line["step"] for line in log(run)] == [30]


def test_a_run_before_its_first_look_says_so(regard: Regard, run: Path) -> None:
    (run / "model.safetensors").unlink()
    said = refused(regard, "translate", run, "one")
    assert "the run has not come to its first look yet, or is damaged" in said


def test_a_folder_that_is_no_run(regard: Regard, tmp_path: Path) -> None:
    assert refused(regard, "translate", tmp_path, "one").startswith(f"{tmp_path / 'config.json'} is missing: ")
    said = refused(regard, "translate", tmp_path / "absent", "one")
    assert said.startswith(f"there is no run folder {tmp_path / 'absent'}; ")


# What a run cannot do, and flags that no run can have.


def test_the_wrong_verb_says_which_fits(done: Path) -> None:
    system = package.open(done)
    with pytest.raises(ValueError) as error:
        system.caption(["picture.png"])
    assert str(error.value) == f"{done} is a run of translate; use: regard translate {done}"
    assert not hasattr(system, "caption")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"steps": 0}, "--steps is 0, but must be at least 1"),
        ({"keep": 0}, "--keep is 0, but must be at least 1"),
        ({"rate": "nan"}, "--rate is nan, but cannot be negative"),
        ({"seed": -1}, "--seed is -1, but cannot be negative"),
        ({"average": "mean"}, "--average is 'mean', but must be none, last:N or best:N, for example last:10"),
        ({"average": "best:0"}, "--average is 'best:0', but must be none, last:N or best:N, for example last:10"),
        (
            {"average": "best:2", "look_every": 8},
            (
                "--average best:2 needs a checkpoint at every look: --look-every is 8, but must be a multiple of "
                "--save-every, which is 5"
            ),
        ),
    ],
)
def test_plans_that_cannot_be(regard: Regard, data: Path, tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    assert refused(regard, *words(data, tmp_path / "run", **{**SHORT, **wrong})) == said


@pytest.mark.parametrize("device", ["abacus", "cuda:99"])
def test_a_device_that_is_not_here(regard: Regard, data: Path, done: Path, tmp_path: Path, device: str) -> None:
    for command in (
        words(data, tmp_path / "run", **SHORT, device=device),
        ["translate", done, "one", "--device", device],
    ):
        assert refused(regard, *command).startswith(f"--device {device} cannot be used on this machine (")


def test_newest_checkpoints_stay(done: Path) -> None:
    best = files.read_json(done / "run.json")["result"]["best"]["step"]
    assert checkpoints.steps(done / "checkpoints") == sorted({10, 15, 20} | {best})
