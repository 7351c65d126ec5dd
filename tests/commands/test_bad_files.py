"""Every way in which data files can be wrong ends in one sentence that says where and what."""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regard.data.inspect import inspect
from regard.data.parallel import Parallel
from regard.data.source import Source


def complaint(place: Path | str, columns: str = "", split: str = "train", skip_bad: bool = False) -> str:
    """Return the sentence that reading this place ends in."""
    with pytest.raises(ValueError) as error:
        Source(str(place), columns, skip_bad).parallel("en", "fr").pairs(split)
    assert type(error.value) is ValueError
    sentence = str(error.value)
    assert "\n" not in sentence
    assert len(sentence) < 400
    return sentence


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


GOOD_TSV = "A man.\tUn homme.\nA star.\tUne étoile.\n"
BAD_LINES: dict[str, tuple[str, bytes, str, str]] = {
    # what: (file, its third line, what is said, the reason under which it is counted)
    "a byte that is not UTF-8": ("x.tsv", b"ab\xe9\tc", "byte 0xe9 at position 3 is not UTF-8", "not UTF-8"),
    "a column too few": ("x.tsv", b"alone", "1 column between tabs, but expected 2", "wrong number of columns"),
    "a column too many": ("x.tsv", b"a\tb\tc", "3 columns between tabs, but expected 2", "wrong number of columns"),
    "a blank line": ("x.tsv", b"", "1 column between tabs, but expected 2", "wrong number of columns"),
    "an empty side": ("x.tsv", b"a\t \xc2\xa0", "the fr side is empty", "empty side"),
    "a NUL": ("x.tsv", b"a\0\tb", "the en side has a NUL character", "NUL character"),
    "JSON cut short": ("x.jsonl", b'{"en": "a", "fr"', "not valid JSON", "invalid JSON"),
    "no JSON at all": ("x.jsonl", b"", "not valid JSON", "invalid JSON"),
    "JSON too deep": ("x.jsonl", b"[" * 100_000, "not valid JSON", "invalid JSON"),
    "a list": ("x.jsonl", b'["a", "b"]', 'a JSON object is expected, but this is ["a", "b"]', "no JSON object"),
    "a missing key": ("x.jsonl", b'{"en": "a", "de": "b"}', "there is no 'fr'; the keys are en, de", "missing key"),
    "a number": ("x.jsonl", b'{"en": "a", "fr": 3}', "'fr' must be a text, but is 3", "no text"),
    "half a character": (
        "x.jsonl",
        b'{"en": "\\ud83d", "fr": "b"}',
        "one half of a surrogate pair",
        "half a character",
    ),
    "an empty JSON text": ("x.jsonl", b'{"en": "", "fr": "b"}', "the en side is empty", "empty side"),
    "an empty segment": (
        "x.tmx",
        b'<tu><tuv xml:lang="en"><seg>a</seg></tuv><tuv xml:lang="fr"><seg/></tuv></tu>',
        "the fr side is empty",
        "empty side",
    ),
    "no PO syntax": ("x.po", b"msgid without quotes", "neither a comment nor msgid", "no PO syntax"),
    "an unknown escape": ("x.po", b'msgid "\\q"', "\\q is no escape of PO files", "unknown escape"),
}
GOOD = {
    ".tsv": GOOD_TSV.encode() + b"%b\nlast\tdernier\n",
    ".jsonl": b'{"en": "A man.", "fr": "Un homme."}\n{"en": "a", "fr": "b"}\n%b\n{"en": "last", "fr": "dernier"}\n',
    ".tmx": b"<tmx><body>\n"
    b'<tu><tuv xml:lang="en"><seg>a</seg></tuv><tuv xml:lang="fr"><seg>b</seg></tuv></tu>\n%b\n'
    b'<tu><tuv xml:lang="en"><seg>last</seg></tuv><tuv xml:lang="fr"><seg>c</seg></tuv></tu>\n</body></tmx>',
    ".po": b'msgid "a"\nmsgstr "b"\n%b\nmsgstr "c"\n\nmsgid "last"\nmsgstr "dernier"\n',
}


@pytest.mark.parametrize("what", BAD_LINES)
def test_a_bad_line_is_named_and_can_be_skipped(tmp_path: Path, what: str) -> None:
    name, line, said, reason = BAD_LINES[what]
    path = written(tmp_path / name, GOOD[Path(name).suffix].replace(b"%b", line))
    sentence = complaint(path)
    assert sentence.startswith(f"{path}:3: ")
    assert said in sentence
    assert sentence.endswith("(--skip-bad goes on without bad lines)")
    corpus = Parallel(str(path), "en", "fr", skip_bad=True)
    bad: Any = corpus.describe()["bad"]
    assert bad[reason] == 1
    assert "last" in [pair.source for pair in corpus.pairs("train") + corpus.pairs("val")]


def test_an_empty_side_of_two_files_is_named_in_its_own_file(tmp_path: Path) -> None:
    written(tmp_path / "train.en", "a\nb\nc\nd\n")
    written(tmp_path / "train.fr.gz", gzip.compress(b"1\n2\n\n4\n"))
    assert complaint(tmp_path).startswith(f"{tmp_path / 'train.fr.gz'}:3: the fr side is empty")
    corpus = Parallel(str(tmp_path), "en", "fr", skip_bad=True)
    assert sorted(corpus.pairs("train") + corpus.pairs("val")) == [("a", "1"), ("b", "2"), ("d", "4")]


@pytest.mark.parametrize("skip_bad", [False, True])
def test_sides_of_different_length_are_counted_and_never_used(tmp_path: Path, skip_bad: bool) -> None:
    written(tmp_path / "train.en", "a\nb\nc\n")
    written(tmp_path / "train.fr", "1\n2\n3\n4\n5")
    sentence = complaint(tmp_path, skip_bad=skip_bad)
    assert f"{tmp_path / 'train.en'} has 3 lines, but {tmp_path / 'train.fr'} has 5" in sentence


def test_a_place_that_is_not_there(tmp_path: Path) -> None:
    assert complaint(tmp_path / "absent") == (
        f"there is no file or folder {tmp_path / 'absent'}; the embedded data is called scenes"
    )


def test_a_folder_without_the_languages_lists_its_files(tmp_path: Path) -> None:
    assert complaint(tmp_path).endswith("there are no files")
    written(tmp_path / "train.en", "a\n")
    written(tmp_path / "train.de", "a\n")
    sentence = complaint(tmp_path)
    assert "no en-fr pairs: expected train.en and train.fr" in sentence
    assert sentence.endswith("there are train.de, train.en")


def test_a_file_without_its_other_side(tmp_path: Path) -> None:
    written(tmp_path / "train.de", "a\n")
    path = written(tmp_path / "train.en", "a\n")
    assert complaint(path) == f"{path} has no fr side beside it; there are train.de, train.en"


def test_a_split_that_is_not_there(tmp_path: Path) -> None:
    written(tmp_path / "test.tsv", GOOD_TSV)
    written(tmp_path / "train.en", "a\n")
    assert complaint(tmp_path) == f"{tmp_path} has no split 'train', only test; not read: train.en"
    assert "has no split 'tset', only test" in complaint(tmp_path, split="tset")


@pytest.mark.parametrize("name", ["x.tsv", "x.jsonl", "x.po", "x.en"])
def test_an_empty_file(tmp_path: Path, name: str) -> None:
    written(tmp_path / "x.fr", "")
    path = written(tmp_path / name, "")
    assert complaint(path).startswith(f"no en-fr pairs in {path}")


def test_nothing_but_bad_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "x.tsv", "a\nb\nc\t\n")
    sentence = complaint(path, skip_bad=True)
    assert sentence == f"no en-fr pairs in {path}: 2 wrong number of columns, 1 empty side"


def test_one_pair_is_too_few_to_hold_some_out(tmp_path: Path) -> None:
    assert "only one source sentence" in complaint(written(tmp_path / "x.tsv", "a\tb\n"))


def test_a_file_of_no_known_format(tmp_path: Path) -> None:
    path = written(tmp_path / "x.doc", "a\nb\n")
    assert "is of no known format: expected jsonl, po, tmx, tsv" in complaint(path)


def test_the_same_text_twice(tmp_path: Path) -> None:
    for name in ("train.en", "train.en.gz", "train.fr"):
        written(tmp_path / name, "a\n")
    assert "train.en and " in complaint(tmp_path)
    assert complaint(tmp_path).endswith("hold the same text; keep one of them, or name one file")


def test_a_language_into_itself(tmp_path: Path) -> None:
    written(tmp_path / "train.en", "a\nb\n")
    with pytest.raises(ValueError, match="two languages are expected, not en twice"):
        Parallel(str(tmp_path), "en", "en").pairs("train")


@pytest.mark.parametrize("break_it", [lambda data: data[:-9], lambda data: data[:20] + b"\xff\xff\xff" + data[23:]])
def test_a_damaged_archive(tmp_path: Path, break_it: Callable[[bytes], bytes]) -> None:
    path = written(tmp_path / "x.tsv.gz", break_it(gzip.compress(GOOD_TSV.encode() * 50)))
    assert complaint(path).startswith(f"{path} is a damaged gzip file")
    assert complaint(path, skip_bad=True).startswith(f"{path} is a damaged gzip file")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("1", "--columns is '1', but must name two: 1,2 or en,fr"),
        ("1,2,3", "--columns is '1,2,3', but must name two"),
        ("0,1", "--columns is '0,1', but columns count from 1"),
        ("1,7", ":1: 2 columns between tabs, but expected 7"),
        ("English,French", "has no column 'English'; its first line names A man., Un homme."),
    ],
)
def test_columns_that_are_not_there(tmp_path: Path, columns: str, said: str) -> None:
    assert said in complaint(written(tmp_path / "x.tsv", GOOD_TSV), columns)


BOMB = '<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n<tmx><body><tu>&b;</tu></body></tmx>'
EXTERNAL = '<!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/hostname">]>\n<tmx><body><tu>&a;</tu></body></tmx>'
PARAMETER = '<!DOCTYPE tmx [<!ENTITY % a SYSTEM "file:///etc/hostname"> %a;]>\n<tmx><body/></tmx>'
UNKNOWN = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx><body><tu><tuv xml:lang="en"><seg>&a;</seg></tuv></tu></body></tmx>'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (BOMB, ":1: declares the entity 'a'; such files are not read"),
        (EXTERNAL, ":1: declares the entity 'a'; such files are not read"),
        (PARAMETER, ":1: declares the entity 'a'; such files are not read"),
        (UNKNOWN, ":2: the entity &a; is not known"),
        ("<tmx>\n<body>\n<tu>\n</body></tmx>", ":4: mismatched tag; this is not TMX"),
        ("", ":1: no element found; this is not TMX"),
        ("<html/>", " has no en-fr units; its languages are none"),
        ('<tmx><tu><tuv xml:lang="de"/><tuv xml:lang="en-US"/></tu></tmx>', "its languages are de, en-US"),
    ],
)
@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_memory_that_is_unsafe_or_no_memory(tmp_path: Path, content: str, said: str, skip_bad: bool) -> None:
    path = written(tmp_path / "x.tmx", content)
    sentence = complaint(path, skip_bad=skip_bad)
    assert sentence.startswith(str(path))
    assert sentence.endswith(said)


def test_a_catalogue_in_another_language(tmp_path: Path) -> None:
    path = written(tmp_path / "x.po", 'msgid ""\nmsgstr "Language: de\\n"\n')
    assert complaint(path) == f"{path} translates into de, but en-fr is asked for"


def test_an_entry_without_translation_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "x.po", 'msgid "a"\n\nmsgid "b"\nmsgstr "c"\n')
    assert complaint(path).startswith(f"{path}:1: msgid without msgstr")


def test_the_hub_without_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert complaint("hf:org/name") == "hf:org/name needs the datasets library: pip install 'regard[hub]'"


def test_an_inspection_goes_on_where_reading_stops(tmp_path: Path) -> None:
    for what, (name, line, _, _) in BAD_LINES.items():
        written(tmp_path / f"{what.replace(' ', '-')}{Path(name).suffix}", GOOD[Path(name).suffix].replace(b"%b", line))
    written(tmp_path / "bomb.tmx", BOMB)
    report = inspect(Source(str(tmp_path)), "en", "fr")
    assert len(report.splits) == len(BAD_LINES) + 1
    assert all(section.problems for section in report.splits.values())
    for name, section in report.splits.items():
        assert f"{name}: {section.pairs:,} pairs" in str(report)
