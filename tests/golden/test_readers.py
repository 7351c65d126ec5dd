"""Small files written by hand, and the pairs that stand in them."""

import gzip
import hashlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from regard.data.corpus import Pair
from regard.data.inspect import inspect
from regard.data.lines import same_language
from regard.data.parallel import Parallel, held_out
from regard.data.places import find
from regard.data.source import Source
from tests.data import shared_data

# The file that is asked for is validation data in a folder: whole, and with nothing held out.
TWO = [Pair("A man.", "Un homme."), Pair("A star.", "Une étoile.")]


def read(path: Path, content: str | bytes, columns: str = "", skip_bad: bool = False) -> list[Pair]:
    """Return the English-French pairs of one file with this content."""
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    corpus = Source(str(path.parent), columns, skip_bad).parallel("en", "fr")
    return corpus.pairs("val")


# Two files side by side


@pytest.mark.parametrize("names", [("val.en", "val.fr"), ("dev.en.gz", "dev.fr"), ("valid.en.txt", "valid.fr.txt.gz")])
def test_line_n_of_one_file_translates_line_n_of_the_other(tmp_path: Path, names: tuple[str, str]) -> None:
    (tmp_path / "notes.md").write_text("nothing to read")
    for name, text in zip(names, ("A man.\nA star.\n", "Un homme.\nUne étoile.\n"), strict=True):
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert Parallel(str(tmp_path), "en", "fr").pairs("val") == TWO
    assert Parallel(str(tmp_path), "fr", "en").pairs("val") == [Pair(pair.target, pair.source) for pair in TWO]


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    strange = "a\u2028b\u2029c\x0bd\x0ce\x1cf\x85g\rh"
    (tmp_path / "val.en").write_bytes(f"{strange}\r\n{strange}\n{strange}".encode())
    (tmp_path / "val.fr").write_bytes(b"1\n2\r\n3\n")
    pairs = Parallel(str(tmp_path), "en", "fr").pairs("val")
    assert pairs == [Pair(strange, "1"), Pair(strange, "2"), Pair(strange, "3")]


def test_a_byte_order_mark_is_no_text_and_texts_are_in_normal_form_c(tmp_path: Path) -> None:
    (tmp_path / "val.en").write_bytes(b"\xef\xbb\xbfcafe\xcc\x81\n  two  \n")
    (tmp_path / "val.fr").write_bytes(b"\xef\xbb\xbf1\n\xef\xbb\xbf2\n")
    pairs = Parallel(str(tmp_path), "en", "fr").pairs("val")
    assert pairs == [Pair("caf\u00e9", "1"), Pair("  two  ", "\ufeff2")]


def test_one_of_two_files_finds_the_other(tmp_path: Path) -> None:
    for name in ("corpus.en", "corpus.fr", "other.fr"):
        (tmp_path / name).write_text("one\ntwo\n" if name.endswith("en") else "un\ndeux\n")
    for name in ("corpus.en", "corpus.fr"):
        corpus = Parallel(str(tmp_path / name), "en", "fr")
        assert corpus.splits() == ["train", "val"]
        assert sorted(corpus.pairs("train") + corpus.pairs("val")) == [("one", "un"), ("two", "deux")]


# Columns


def test_columns_between_tabs_are_source_and_target(tmp_path: Path) -> None:
    assert read(tmp_path / "val.tsv", 'A man.\tUn homme.\n"A star."\tUne étoile.\n') == [
        TWO[0],
        Pair('"A star."', "Une étoile."),
    ]


@pytest.mark.parametrize(
    ("top", "columns"),
    [("", "3,2"), ("id\tFrench\tEnglish\n", "English,French"), ("id\tfr\ten\n", ""), ("id\ttarget\tsource\n", "")],
)
def test_columns_are_found_by_number_or_name(tmp_path: Path, top: str, columns: str) -> None:
    text = top + "1\tUn homme.\tA man.\n2\tUne étoile.\tA star.\n"
    assert read(tmp_path / "val.tsv.gz", text, columns) == TWO


# JSON


@pytest.mark.parametrize(
    ("make", "columns"),
    [
        (lambda source, target: {"en": source, "fr": target}, ""),
        (lambda source, target: {"id": 1, "en-US": source, "fr_FR": target}, ""),
        (lambda source, target: {"source": source, "target": target}, ""),
        (lambda source, target: {"translation": {"fr": target, "en": source}}, ""),
        (lambda source, target: {"en": "no", "fr": "non", "from": source, "to": target}, "from,to"),
        (lambda source, target: {"texts": {"a": source, "b": target}}, "texts.a,texts.b"),
    ],
)
def test_json_objects_hold_a_pair_in_many_ways(tmp_path: Path, make: Any, columns: str) -> None:
    text = "".join(json.dumps(make(*pair)) + "\n" for pair in TWO)
    assert read(tmp_path / "val.jsonl", text, columns) == TWO


# Translation memories

TMX = """<?xml version="1.0" encoding="{encoding}"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en"/><body>
<tu><note>about men</note>
    <tuv xml:lang="en-US"><seg>A <bpt i="1">&lt;b></bpt>m<hi>a</hi>n<ept i="1">&lt;/b></ept>.</seg></tuv>
    <tuv xml:lang="de"><seg>Ein Mann.</seg></tuv>
    <tuv xml:lang="FR"><prop>x</prop><seg>Un homme.</seg></tuv></tu>
<tu><tuv lang="fr"><seg>Une étoile<ph>\\1<sub>no text</sub></ph>.</seg></tuv>
    <tuv lang="en"><seg>A star.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>No French.</seg></tuv></tu>
</body></tmx>
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_units_of_a_memory_are_pairs_without_their_codes(tmp_path: Path, encoding: str) -> None:
    text = TMX.format(encoding=encoding).encode(encoding)
    assert read(tmp_path / "val.tmx", text) == TWO
    assert read(tmp_path / "val.tmx", text, skip_bad=True) == TWO
    assert Parallel(str(tmp_path), "en", "fr").describe()["left_out"] == {"without fr": 1}


def test_a_language_is_itself_or_a_form_of_it() -> None:
    assert all(same_language(code, "en") for code in ("en", "EN", "en-US", "en_GB", "en-Latn-US", "en_US.UTF-8"))
    assert not any(same_language(code, "en") for code in ("", "eng", "de", "en-fra", "x-en"))
    assert same_language("zh-Hans-CN", "zh-hans")
    assert not same_language("en", "en-US")


# Catalogues

PO = r"""
# A translator's comment
msgid ""
msgstr ""
"Language: fr_FR\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\n"

#: code.c:1
msgid "A man."
msgstr "Un homme."

#, fuzzy, c-format
#| msgid "An older text"
msgid "not sure"
msgstr "pas sûr"

msgid "not yet"
msgstr ""

#, fuzzy
#~ msgid "gone"
#~ msgstr "parti"

msgctxt "menu"
msgid ""
"A \"st"
"ar\".\n"
msgstr "Une \\ \303\251toile\x2e\t!"

msgid "one file"
msgid_plural "%d files"
msgstr[0] "un fichier"
msgstr[1] "%d fichiers"
"""


def test_entries_of_a_catalogue_are_pairs(tmp_path: Path) -> None:
    assert read(tmp_path / "val.po", PO) == [
        Pair("A man.", "Un homme."),
        Pair('A "star".\n', "Une \\ étoile.\t!"),
        Pair("one file", "un fichier"),
        Pair("%d files", "%d fichiers"),
    ]
    assert Parallel(str(tmp_path), "en", "fr").describe()["left_out"] == {"fuzzy": 1, "untranslated": 1}


def test_a_catalogue_into_the_source_language_is_turned_around(tmp_path: Path) -> None:
    text = 'msgid ""\nmsgstr "Language: en\\n"\n\nmsgid "Un homme."\nmsgstr "A man."\n\nmsgid "x"\nmsgstr ""\n'
    assert read(tmp_path / "val.po.gz", text) == [Pair("A man.", "Un homme.")]


def test_plural_forms_follow_the_rule_of_the_language(tmp_path: Path) -> None:
    # Three forms as in Slovenian, where form 1 stands for one; and a single form, as in Japanese, for the plural.
    entry = 'msgid "file"\nmsgid_plural "files"\n'
    slovenian = r'msgid ""' + "\n" + r'msgstr "Plural-Forms: nplurals=3; plural=(n==1 ? 1 : n==2 ? 2 : 0);\n"' + "\n"
    forms = 'msgstr[0] "many"\nmsgstr[1] "one"\nmsgstr[2] "two"\n'
    assert read(tmp_path / "val.po", slovenian + entry + forms) == [
        ("files", "many"),
        ("file", "one"),
        ("files", "two"),
    ]
    assert read(tmp_path / "val.po", entry + 'msgstr[0] "any"\n') == [("files", "any")]


# Splits


def lay(folder: Path, names: list[str]) -> None:
    for name in names:
        (folder / name).write_text(f"one {name}\tun\ntwo {name}\tdeux\n", encoding="utf-8")


def test_the_stem_names_the_split(tmp_path: Path) -> None:
    lay(tmp_path, ["train.a.tsv", "train.b.tsv", "dev.tsv", "test_2016.tsv", "news.old.tsv"])
    corpus = Parallel(str(tmp_path), "en", "fr")
    assert corpus.splits() == ["train", "val", "news.old", "test_2016"]
    assert [pair.source for pair in corpus.pairs("train")] == [
        f"{n} train.{x}.tsv" for x in "ab" for n in ("one", "two")
    ]
    assert corpus.pairs("test_2016") == [("one test_2016.tsv", "un"), ("two test_2016.tsv", "deux")]


def test_a_file_alone_is_training_data_whatever_its_name(tmp_path: Path) -> None:
    lay(tmp_path, ["test.tsv"])
    corpus = Parallel(str(tmp_path / "test.tsv"), "en", "fr")
    assert corpus.splits() == ["train", "val"]
    assert {len(corpus.pairs("train")), len(corpus.pairs("val"))} == {1}


def test_a_folder_may_hold_test_data_alone(tmp_path: Path) -> None:
    lay(tmp_path, ["test.tsv"])
    assert Parallel(str(tmp_path), "en", "fr").splits() == ["test"]


def test_two_files_come_before_one_of_the_same_stem(tmp_path: Path) -> None:
    for name in ("train.en", "train.fr", "train.de"):
        (tmp_path / name).write_text("one\ntwo\n")
    (tmp_path / "train.en-fr.align").write_text("0-0\n0-0\n")
    (tmp_path / "train.jsonl").write_text("{}\n{}\n")
    found = find(str(tmp_path), Parallel(str(tmp_path), "en", "fr").ask)
    assert [path.name for part in found.parts["train"] for path in part.files] == ["train.en", "train.fr"]
    assert [path.name for path in found.ignored] == ["train.de", "train.en-fr.align", "train.jsonl"]


def test_one_percent_is_held_out_by_distinct_source(tmp_path: Path) -> None:
    lines = [f"sentence {i // 3}\ttranslation {i}\n" for i in range(3000)]  # three translations each
    (tmp_path / "all.tsv").write_text("".join(lines))
    corpus = Parallel(str(tmp_path / "all.tsv"), "en", "fr")
    train, val = corpus.pairs("train"), corpus.pairs("val")
    assert len(val) == 30
    assert not {pair.source for pair in train} & {pair.source for pair in val}
    assert sorted(train + val) == sorted(Pair(*line.rstrip().split("\t")) for line in lines)
    # The choice belongs to the sentences: their order in the file does not matter.
    (tmp_path / "all.tsv").write_text("".join(reversed(lines)))
    assert sorted(corpus.pairs("val")) == sorted(val)


def test_at_most_two_thousand_pairs_are_held_out_and_at_least_one(tmp_path: Path) -> None:
    (tmp_path / "all.tsv").write_text("".join(f"{i}\t{i}\n" for i in range(210_000)))
    assert len(Parallel(str(tmp_path / "all.tsv"), "en", "fr").pairs("val")) == 2000
    (tmp_path / "all.tsv").write_text("a\t1\na\t2\nb\t1\nb\t2\n")
    rows = Parallel(str(tmp_path / "all.tsv"), "en", "fr")
    assert (len(rows.pairs("train")), len(rows.pairs("val"))) == (2, 2)
    with pytest.raises(ValueError, match="only one source sentence"):
        held_out("x", [])


def test_what_was_recognised_is_described(tmp_path: Path) -> None:
    lay(tmp_path, ["train.tsv", "test.tsv", "notes.md"])
    description = Parallel(str(tmp_path), "en", "fr").describe()
    json.dumps(description)
    assert description["format"] == "tsv"
    assert description["pairs"] == {"train": 1, "val": 1, "test": 2}
    assert description["held_out"] is True
    assert description["ignored"] == [str(tmp_path / "notes.md")]
    content = (tmp_path / "test.tsv").read_bytes()
    files = description["files"]
    assert isinstance(files, dict)
    assert files[str(tmp_path / "test.tsv")] == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert len(files) == 2


def test_a_source_reads_nothing_before_it_is_asked(tmp_path: Path) -> None:
    corpus = Source(str(tmp_path / "absent")).parallel("en", "fr")
    with pytest.raises(ValueError, match="there is no file or folder"):
        corpus.splits()


def test_datasets_of_the_hub_come_through_the_datasets_library(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def load_dataset(*args: object, **kwargs: object) -> dict[str, list[object]]:
        calls.append((args, kwargs))
        rows: list[object] = [{"translation": {"en": pair.source, "fr": pair.target}} for pair in TWO]
        return {"train": rows, "validation": rows, "test": rows}

    library = ModuleType("datasets")
    library.load_dataset = load_dataset  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", library)
    corpus = Source("hf:org/name:en-fr@abc").parallel("en", "fr")
    assert corpus.splits() == ["train", "val", "test"]
    assert corpus.pairs("test") == TWO
    assert calls[0] == (("org/name", "en-fr"), {"revision": "abc"})


# What is wrong in the files


def test_an_inspection_names_every_problem_and_its_place(tmp_path: Path) -> None:
    lines = [f"A sentence of number {i}.\tUne phrase de nombre {i}." for i in range(10)]
    lines += [lines[0], "Same\tSame", "only one", "\tempty", "short\t" + "very long " * 130, "two  spaces\tdeux"]
    lines += ["cafe\u0301\tcaf\u00e9 noir", "c\u0430t\tchat", "summer\tÃ©tÃ©", "bell\x07\tsonnette"]
    (tmp_path / "train.tsv").write_bytes("\n".join(lines).encode() + b"\nbad \xff\tmal\n")
    (tmp_path / "test.tsv").write_text(lines[3] + "\nA sentence of number 4.\tnew\nnew\tneuf\n")
    (tmp_path / "other.en").write_text("a\nb\n")
    (tmp_path / "other.fr").write_text("a\n")
    report = inspect(Source(str(tmp_path)), "en", "fr")
    train, file = report.splits["train"], tmp_path / "train.tsv"
    places = {kind: [place.partition(f"{file}:")[2] for place in found.where] for kind, found in train.problems.items()}
    assert places == {
        "duplicate": [f"11: as {file}:1"],
        "identical sides": ["12: Same"],
        "wrong number of columns": ["13: 1 column between tabs, but expected 2"],
        "empty side": ["14: the en side is empty"],
        "very long": ["15: 260 words, 1300 characters"],
        "length ratio": ["15: 5 characters against 1300"],
        "stray white space": [f"15: '…{('very long ' * 130)[-31:]}'", "16: 'two  spaces'"],
        "not in normal form C (will be)": ["17: 'cafe\u0301'"],
        "mixed alphabets in one word": ["18: c\u0430t (Latin and Cyrillic)"],
        "encoded twice": ["19: Ã©tÃ© (meant: été)"],
        "control or replacement character": ["20: U+0007"],
        "not UTF-8": ["21: byte 0xff at position 5 is not UTF-8"],
    }
    assert [overlap for overlap in report.overlaps if overlap.split == "test"] == [("test", "train", 2, 1, 1)]
    assert report.splits["other"].problems["file cannot be used"].count == 1
    assert report.held_out == 1
    assert report.splits["test"].source.words == 11
    assert report.splits["test"].target.distinct_words == 7
    assert "train: 18 pairs" in str(report)
    assert json.loads(json.dumps(report.as_json()))["splits"]["train"]["problems"]["empty side"]["count"] == 1


# Real files


@pytest.mark.parametrize("target", ["de", "fr"])
def test_multi30k_is_read_whole(target: str) -> None:
    folder = shared_data("multi30k")
    corpus = Parallel(str(folder), "en", target)
    assert corpus.splits() == ["train", "val", "test_2016_flickr"]
    assert [len(corpus.pairs(split)) for split in corpus.splits()] == [29_000, 1_014, 1_000]
    assert corpus.pairs("train")[0].source == "Two young, White males are outside near many bushes."
    with gzip.open(folder / f"val.{target}.gz", "rt", encoding="utf-8", newline="\n") as stream:
        assert [pair.target for pair in corpus.pairs("val")] == stream.read().split("\n")[:-1]


def test_multi30k_describes_its_files() -> None:
    description: Any = Parallel(str(shared_data("multi30k")), "en", "de").describe()
    assert description["pairs"] == {"train": 29_000, "val": 1_014, "test_2016_flickr": 1_000}
    sums = {Path(name).name: facts["sha256"][:8] for name, facts in description["files"].items()}
    assert sums["train.en.gz"] == "d79cfa99"  # from the data's README
    assert len(sums) == 6


@pytest.mark.parametrize(
    ("name", "languages", "columns", "count"),
    [
        ("fra.txt.gz", ("en", "fr"), "", 167_130),
        ("deu.txt.gz", ("en", "de"), "", 169_813),
        ("tatoeba-test-v2023-09-26.eng-ita.txt.gz", ("eng", "ita"), "3,4", 29_212),
        ("tatoeba-test-v2023-09-26.deu-eng.txt.gz", ("eng", "deu"), "4,3", 32_565),
        ("laser-tatoeba.ita-eng.eng.gz", ("eng", "ita"), "", 1_000),
    ],
)
def test_tatoeba_is_read_whole(name: str, languages: tuple[str, str], columns: str, count: int) -> None:
    corpus = Parallel(str(shared_data("tatoeba", name)), *languages, columns=columns)
    pairs: Any = corpus.describe()["pairs"]
    assert pairs["train"] + pairs["val"] == count
    assert 0 < pairs["val"] <= count // 100
