"""Which combinations training never shows: a tenth for test, a twentieth for validation, whatever the seed.

Every pair within a held-out combination occurs in training, so that its parts are known and only the whole is new.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from regard.data.draw import rank

Triple = tuple[str, str, str]


def homes(triples: Iterable[Triple]) -> dict[Triple, str]:
    """Return the split of each triple: test, val or train."""
    order = sorted(set(triples), key=lambda triple: (rank(" ".join(triple)), triple))
    left = Counter(pair for triple in order for pair in _pairs(triple))
    wanted = ["test"] * (len(order) // 10) + ["val"] * (len(order) // 20)
    home = dict.fromkeys(order, "train")
    for triple in order:
        if wanted and all(left[pair] > 1 for pair in _pairs(triple)):
            left.subtract(_pairs(triple))
            home[triple] = wanted.pop(0)
    return home


def _pairs(triple: Triple) -> list[tuple[tuple[int, str], ...]]:
    return list(combinations(enumerate(triple), 2))
