"""The WMT14 table of the lecture: figures of the source, which agree among themselves."""

import json
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
ROWS = json.loads((DOCS / "wmt14.json").read_text(encoding="utf-8"))["rows"]


def test_the_table_has_the_five_systems_of_the_slide() -> None:
    assert [(row["system"], row["days"], row["gpus"], row["bleu"], row["over_moses"]) for row in ROWS] == [
        ("Transformer (large)", 3, 8, 28.4, 7.8),
        ("Transformer (small)", 1, 1, 24.9, 4.3),
        ("GNMT + Mixture of Experts", 1, 64, 26.0, 5.4),
        ("ConvS2S", 18, 1, 25.1, 4.5),
        ("GNMT", 1, 96, 24.6, 4.0),
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["system"])
def test_every_row_gives_moses_the_same_score(row: dict[str, float]) -> None:
    # The slide has one decimal; so has the difference.
    assert round(row["bleu"] - row["over_moses"], 1) == 20.6


def test_the_page_shows_the_table_as_it_is_kept() -> None:
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    for row in ROWS:
        cells = row["system"], row["days"], row["gpus"], row["bleu"], f"+{row['over_moses']}"
        assert f"| {' | '.join(map(str, cells))} |" in page
