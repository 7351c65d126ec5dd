"""Results for people and as JSON."""

import json
import math
from pathlib import Path

from regard.metrics.score import Score
from regard.printing import as_json, told

FOUND = {
    "run": Path("runs/en-fr"),
    "parameters": 63082496,
    "rate": 0.00005,
    "tied": True,
    "scores": {"bleu": Score(97.123, "nrefs:1"), "it": Score(1.0), "nll": Score(math.nan)},
    "files": [],
    "pairs": [{"en": "a"}],
}


def test_people_read_names_numbers_and_signatures() -> None:
    assert told(FOUND).splitlines() == [
        "run         runs/en-fr",
        "parameters  63,082,496",
        "rate        5e-05",
        "tied        True",
        "scores",
        "  bleu     97.12  nrefs:1",
        "  it        1.00",
        "  nll    unknown",
        "files",
        "pairs",
        "  en  a",
    ]


def test_json_has_names_and_no_number_that_json_does_not_know() -> None:
    assert json.loads(as_json(FOUND)) == {
        "run": "runs/en-fr",
        "parameters": 63082496,
        "rate": 5e-05,
        "tied": True,
        "scores": {
            "bleu": {"value": 97.123, "signature": "nrefs:1"},
            "it": {"value": 1.0, "signature": ""},
            "nll": {"value": None, "signature": ""},
        },
        "files": [],
        "pairs": [{"en": "a"}],
    }
