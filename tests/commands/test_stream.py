"""Lines in, lines out: `regard translate` answers as the lines come, in order, and ends quietly.

A translator that turns texts around stands in for a model: what is tested here is everything around it.
"""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.stream import chunks
from tests.conftest import Regard

# A module that stands in for regard.open. "slow" takes its time, so that signals find the program at work.
STAND_IN = """
import sys, time, types
from typing import NamedTuple

class Answer(NamedTuple):
    text: str
    score: float = -1.25
    penalised: float = -0.5
    links: list = [(0, 1), (1, 0)]

class Backwards:
    def translations(self, texts, first=0, n_best=1, prefix="", **options):
        for number, text in enumerate(texts, first):
            time.sleep(60 if text == "slow" else 0)
            yield [Answer(prefix + text[::-1] + "\\n!" * rank) for rank in range(n_best)]

module = sys.modules["regard.open"] = types.ModuleType("regard.open")
module.open = lambda run, device="cpu": Backwards()
"""
PROGRAM = [sys.executable, "-c", f"{STAND_IN}\nfrom regard.cli import main\nsys.exit(main())", "translate", "run"]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "regard.open", sys)  # put back at the end
    exec(STAND_IN, {})  # noqa: S102 – the same text that the processes run


@pytest.fixture
def pipe() -> Iterator[tuple[Callable[[bytes], int], Iterator[list[str]], Callable[[], None]]]:
    """What writes into a pipe, the chunks that come out of it, and what closes it."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as file:
        yield lambda text: os.write(writing, text), chunks(file, "the pipe", most=4), lambda: os.close(writing)


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    # A shell starts what runs in its background deaf to SIGINT, and children inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    started = subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    signal.signal(signal.SIGINT, before)
    with started:
        yield started
        started.kill()


def answered(process: subprocess.Popen[bytes], text: bytes) -> bytes:
    """Return the line that a process answers to a text, within a minute."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(text)
    process.stdin.flush()
    assert select.select([process.stdout], [], [], 60)[0], "no answer came while the input was open"
    return process.stdout.readline()


def test_lines_that_are_there_come_without_waiting_for_more(pipe) -> None:  # type: ignore[no-untyped-def]
    write, lines, close = pipe
    write(b"one\n")
    assert next(lines) == ["one"]
    write(b"two\nthree\nfo")
    assert next(lines) == ["two", "three"]
    write(b"ur\n" + b"x\n" * 5)
    assert next(lines) == ["four", "x", "x", "x"]
    assert next(lines) == ["x", "x"]
    write(b"the end")
    close()
    assert next(lines) == ["the end"]
    assert next(lines, None) is None


@given(st.lists(st.text(st.characters(exclude_characters="\n\ufeff", exclude_categories=["Cs"]))))
def test_any_lines_come_out_as_they_are(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    file = tmp_path_factory.getbasetemp() / "lines.txt"
    file.write_bytes("".join(f"{text}\n" for text in texts).encode())
    with file.open("rb") as stream:
        found = list(chunks(stream, "lines.txt", most=3))
    assert [line for chunk in found for line in chunk] == [text.removesuffix("\r") for text in texts]
    assert all(0 < len(chunk) <= 3 for chunk in found)


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\r\nb", ["a", "b"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        ("a\u2028b\x0bc\x0cd\x85e\rf\n".encode(), ["a\u2028b\x0bc\x0cd\x85e\rf"]),
    ],
)
def test_lines_end_at_line_feeds_only(tmp_path: Path, written: bytes, lines: list[str]) -> None:
    file = tmp_path / "lines.txt"
    file.write_bytes(written)
    with file.open("rb") as stream:
        assert [line for chunk in chunks(stream, "lines.txt") for line in chunk] == lines


def test_a_long_file_comes_in_bounded_chunks(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_bytes(b"".join(b"%d\n" % number for number in range(5000)))
    with file.open("rb") as stream:
        found = list(chunks(stream, "lines.txt"))
    assert max(map(len, found)) == 1024
    assert [line for chunk in found for line in chunk] == [str(number) for number in range(5000)]


def test_bytes_that_are_no_text_are_refused_with_their_line(tmp_path: Path, regard: Regard, stand_in: None) -> None:
    file = tmp_path / "latin.txt"
    file.write_bytes(b"plain\n" * 1500 + b"caf\xe9\n")
    answer = regard("translate", "run", "--input", file)
    assert answer.code == 1
    assert answer.err.startswith(f"{file}, line 1501: byte 4 is not UTF-8; ")
    assert answer.err.count("\n") == 1


def test_a_line_that_is_typed_is_answered_before_the_next(process: subprocess.Popen[bytes]) -> None:
    for word in (b"one", b"two", b"", "été".encode()):
        assert answered(process, word + b"\n").decode() == word.decode()[::-1] + "\n"


def test_a_thousand_lines_keep_their_order() -> None:
    lines = [f"line {number}" for number in range(1000)]
    done = subprocess.run(PROGRAM, input="\n".join(lines), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [line[::-1] for line in lines]


def test_a_reader_who_leaves_ends_the_program_quietly(process: subprocess.Popen[bytes]) -> None:
    assert answered(process, b"one\n") == b"eno\n"
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    process.stdin.write(b"more\n" * 1000)
    process.stdin.close()
    assert (process.wait(60), process.stderr.read()) == (0, b"")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_the_program_with_their_code(process: subprocess.Popen[bytes], number: int, code: int) -> None:
    answered(process, b"one\n")
    assert process.stdin
    assert process.stderr
    process.stdin.write(b"slow\n")
    process.stdin.flush()
    process.send_signal(number)
    assert process.wait(60) == code
    assert b"Traceback" not in process.stderr.read()


def test_texts_are_answered_one_a_line(regard: Regard, stand_in: None) -> None:
    assert regard("translate", "run", "ab", "cd e", "--", "-x").out == "ba\ne dc\nx-\n"


def test_scores_alignments_and_ranks_are_columns(regard: Regard, stand_in: None) -> None:
    translate = ("translate", "run", "ab", "cd")
    assert regard(*translate, "--scores").out == "ba ||| -1.2500\ndc ||| -1.2500\n"
    assert regard(*translate, "--alignments").out == "ba ||| 0-1 1-0\ndc ||| 0-1 1-0\n"
    ranked = regard(*translate, "--n-best", 2).out
    assert ranked == "0 ||| ba ||| -1.2500\n0 ||| ba ! ||| -1.2500\n1 ||| dc ||| -1.2500\n1 ||| dc ! ||| -1.2500\n"


def test_json_is_one_object_a_line(regard: Regard, stand_in: None) -> None:
    lines = regard("translate", "run", "é", "cd", "--json", "--n-best", 2).out.splitlines()
    first = {"text": "é", "score": -1.25, "penalised": -0.5}
    assert json.loads(lines[0]) == {"line": 0, "source": "é", **first, "others": [{**first, "text": "é\n!"}]}
    assert json.loads(lines[1])["line"] == 1
    assert len(lines) == 2


def test_a_prefix_may_begin_with_a_hyphen(regard: Regard, stand_in: None) -> None:
    assert regard("translate", "run", "ab", "--prefix", "- ").out == "- ba\n"


def test_output_goes_to_a_file_that_is_not_the_input(tmp_path: Path, regard: Regard, stand_in: None) -> None:
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("ab\ncd\n")
    assert regard("translate", "run", "--input", source, "--output", target) == (0, "", "")
    assert target.read_text() == "ba\ndc\n"
    refused = regard("translate", "run", "--input", source, "--output", source)
    assert refused.code == 2
    assert source.read_text() == "ab\ncd\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full, the disk that is always full")
def test_a_full_disk_is_one_sentence() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*PROGRAM, "ab"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
