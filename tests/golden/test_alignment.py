"""Alignments worked on paper: error rate, Pharaoh files, links and words from weights."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from regard.data.corpus import Links, Pair
from regard.metrics.alignment import (
    error_rate,
    links_of,
    merge,
    precision,
    read_pairs,
    read_pharaoh,
    recall,
    to_pharaoh,
)
from tests.data import shared_data


def gold(sure: set[tuple[int, int]], possible: set[tuple[int, int]] = frozenset()) -> Links:  # type: ignore[assignment]
    return Links(frozenset(sure), frozenset(sure | possible))


def test_error_rate_counts_sure_and_possible_links() -> None:
    """A has 4 links, S 3, P 5. A∩S = {0-0, 1-1}, A∩P = these and 2-3: 1 − (2 + 3) / (4 + 3) = 2/7."""
    right = gold({(0, 0), (1, 1), (2, 2)}, {(2, 3), (3, 3)})
    found = {(0, 0), (1, 1), (2, 3), (0, 3)}
    assert error_rate([found], [right]) == pytest.approx(2 / 7)
    assert precision([found], [right]) == 3 / 4
    assert recall([found], [right]) == 2 / 3


def test_error_rate_sums_over_sentences_before_it_divides() -> None:
    """The first sentence: A 1, S 1, both found. The second: A 3, S 1, nothing found. 1 − (1 + 1) / (4 + 2) = 2/3."""
    links = [{(0, 0)}, {(0, 1), (1, 0), (1, 1)}]
    right = [gold({(0, 0)}), gold({(0, 0)})]
    assert error_rate(links, right) == pytest.approx(2 / 3)
    assert precision(links, right) == 1 / 4
    assert recall(links, right) == 1 / 2


def test_with_sure_links_alone_the_error_rate_is_one_minus_f1() -> None:
    """A 2, S 3, one in common: precision 1/2, recall 1/3, F1 = 2/5."""
    assert error_rate([{(0, 0), (5, 5)}], [gold({(0, 0), (1, 1), (2, 2)})]) == pytest.approx(1 - 2 / 5)


def test_perfect_links_may_leave_out_what_is_only_possible() -> None:
    right = gold({(0, 0), (1, 1)}, {(1, 2), (2, 2)})
    assert error_rate([{(0, 0), (1, 1)}], [right]) == 0.0
    assert error_rate([{(0, 0), (1, 1), (1, 2)}], [right]) == 0.0
    assert error_rate([set()], [right]) == 1.0


def test_nothing_to_find_and_nothing_found_is_no_error() -> None:
    assert error_rate([set()], [gold(set())]) == 0.0
    assert precision([set()], [gold({(0, 0)})]) == 1.0
    assert recall([{(0, 0)}], [gold(set())]) == 1.0


def test_every_sentence_needs_its_gold() -> None:
    with pytest.raises(ValueError, match="1 alignments came for 2 gold alignments"):
        error_rate([set()], [gold(set()), gold(set())])


def test_pharaoh_lines_hold_sure_and_possible_links(tmp_path: Path) -> None:
    file = tmp_path / "gold.align"
    file.write_text("0-0 2p1 1-1 1-1\n\n10p3\r\n")
    assert read_pharaoh(file) == [gold({(0, 0), (1, 1)}, {(2, 1)}), gold(set()), gold(set(), {(10, 3)})]


def test_pharaoh_links_may_count_from_one(tmp_path: Path) -> None:
    file = tmp_path / "gold.align.gz"
    file.write_bytes(gzip.compress(b"1-1 3p2\n"))
    assert read_pharaoh(file, start=1) == [gold({(0, 0)}, {(2, 1)})]


def test_several_pharaoh_files_are_read_one_after_another(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(f"{ord(name)}-0\n")
    assert read_pharaoh(tmp_path / "a", tmp_path / "b") == [gold({(97, 0)}), gold({(98, 0)})]


@pytest.mark.parametrize(
    ("text", "start", "message"),
    [
        ("0-0\n1-x\n", 0, "gold:2: '1-x' is no link; write i-j for a sure and ipj for a possible one"),
        ("1-1 -1-2\n", 0, "gold:1: '-1-2' is no link"),
        ("1-1 0-2\n", 1, "gold:1: link 0-2 stands before the first word, which has the number 1"),
        ("0-0 \xff\n", 0, "gold:1 is not UTF-8 text: invalid start byte"),
    ],
)
def test_a_bad_link_is_named_with_its_line(tmp_path: Path, text: str, start: int, message: str) -> None:
    file = tmp_path / "gold"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=message):
        read_pharaoh(file, start=start)


def test_a_damaged_gzip_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "gold.gz"
    file.write_bytes(gzip.compress(b"0-0 1-1\n" * 9)[:-6])
    with pytest.raises(ValueError, match=r"gold\.gz is a damaged gzip file"):
        read_pharaoh(file)


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "gold").write_bytes(b"")
    assert read_pharaoh(tmp_path / "gold") == []


def test_written_links_are_read_again(tmp_path: Path) -> None:
    right = gold({(10, 0), (2, 3)}, {(2, 1)})
    assert to_pharaoh(right) == "2p1 2-3 10-0"
    assert to_pharaoh({(1, 0), (0, 2)}) == "0-2 1-0"
    assert to_pharaoh([(1, 0)], start=1) == "2-1"
    assert to_pharaoh(set()) == ""
    (tmp_path / "align").write_text(to_pharaoh(right, start=1) + "\n")
    assert read_pharaoh(tmp_path / "align", start=1) == [right]


def test_pairs_come_from_two_files_or_from_one_with_bars(tmp_path: Path) -> None:
    (tmp_path / "en").write_text("a b\nc\n")
    (tmp_path / "fr").write_text("x\ny z \n")
    (tmp_path / "both").write_text("a b ||| x\nc   |||  y z \n")
    expected = [Pair("a b", "x"), Pair("c", "y z")]
    assert read_pairs(tmp_path / "en", tmp_path / "fr") == expected
    assert read_pairs(tmp_path / "both") == expected
    (tmp_path / "fr").write_text("x\n")
    with pytest.raises(ValueError, match=r"en has 2 lines, but .*fr has 1"):
        read_pairs(tmp_path / "en", tmp_path / "fr")
    with pytest.raises(ValueError, match=r"fr:1: expected `source \|\|\| target`, found 'x'"):
        read_pairs(tmp_path / "fr")


def test_the_links_of_weights_are_the_strongest_source_of_each_target_word() -> None:
    weights_TS = [
        [0.1, 0.7, 0.2],
        [0.5, 0.5, 0.0],  # of equals the first
        [0.0, 0.0, 0.0],  # looked at nothing
        [0.0, 0.4, 0.6],
    ]
    assert links_of(weights_TS) == {(1, 0), (0, 1), (2, 3)}
    assert links_of(np.zeros((0, 3))) == links_of(np.zeros((3, 0))) == set()
    with pytest.raises(ValueError, match=r"weights have shape \(2,\)"):
        links_of([0.5, 0.5])


def test_weights_of_pieces_become_weights_of_words() -> None:
    """Into a word: the sum of its columns. Out of a word: the mean of its rows.

    Columns 0 and 1 are one word: 0.3, 0.8, 0.5 go into it. Rows 0 and 1 are one word: (0.3 + 0.8) / 2 = 0.55.
    """
    weights_TS = [
        [0.1, 0.2, 0.7],
        [0.5, 0.3, 0.2],
        [0.25, 0.25, 0.5],
    ]
    words = merge(weights_TS, rows=[(0, 2), (2, 3)], columns=[(0, 2), (2, 3)])
    np.testing.assert_allclose(words, [[0.55, 0.45], [0.5, 0.5]], rtol=1e-12)
    # A special token belongs to no word; heads stay in front.
    heads = merge([weights_TS, weights_TS], rows=[(0, 2)], columns=[(2, 3)])
    np.testing.assert_allclose(heads, [[[0.45]], [[0.45]]], rtol=1e-12)
    # A word without pieces is looked at by nobody and looks at nothing.
    np.testing.assert_array_equal(merge(weights_TS, rows=[(1, 1)], columns=[(0, 3)]), [[0.0]])
    with pytest.raises(ValueError, match=r"a word has the pieces \[2, 4\), but there are 3"):
        merge(weights_TS, rows=[(0, 3)], columns=[(2, 4)])


@pytest.mark.parametrize(
    ("file", "sure", "possible"), [("deen.alignment.talp.gz", 9613, 921), ("enfr.gold.gz", 4038, 13400)]
)
def test_gold_standards_have_the_links_their_readme_counts(file: str, sure: int, possible: int) -> None:
    links = read_pharaoh(shared_data("alignment", file), start=1)
    assert sum(len(each.sure) for each in links) == sure
    assert sum(len(each.possible - each.sure) for each in links) == possible
    assert error_rate([each.sure for each in links], links) == 0.0


def test_gold_standards_stay_within_their_sentences() -> None:
    folder = shared_data("alignment")
    pairs = {
        "deen.alignment.talp.gz": read_pairs(folder / "deen.test.de.gz", folder / "deen.test.en.gz"),
        "enfr.gold.gz": read_pairs(folder / "enfr.src-tgt.gz"),
    }
    for name, sentences in pairs.items():
        for links, pair in zip(read_pharaoh(folder / name, start=1), sentences, strict=True):
            for source, target in links.possible:
                assert source < len(pair.source.split())
                assert target < len(pair.target.split())


def test_the_diagonal_aligns_french_better_than_nothing_and_worse_than_gold() -> None:
    """Hansard sentences of like length run mostly side by side; the worked part is that it is neither 0 nor 1."""
    folder = shared_data("alignment")
    right = read_pharaoh(folder / "enfr.gold.gz", start=1)
    diagonal = [
        {(min(word, len(pair.source.split()) - 1), word) for word in range(len(pair.target.split()))}
        for pair in read_pairs(folder / "enfr.src-tgt.gz")
    ]
    assert 0.2 < error_rate(diagonal, right) < 0.8
