"""How well each attention's links agree with gold alignments, the gold target forced (Och and Ney 2003).

Words are what spaces separate. Weights into the pieces of a word are summed, weights out of them averaged; the link of
a target word is its strongest source word.
"""

from collections.abc import Sequence

import torch

from regard.data.batches import portions
from regard.data.corpus import Links, Pair
from regard.data.vocabulary import END
from regard.metrics import alignment
from regard.tasks.translator import Translator
from regard.trace import trace

Head = tuple[str, int]


def error_rates(
    translator: Translator, pairs: Sequence[Pair], gold: Sequence[Links], batch: int = 64
) -> dict[Head, float]:
    """Return the alignment error rate of every head of every attention to the source."""
    found: dict[Head, list[set[alignment.Link]]] = {}
    for portion in portions(pairs, batch):
        sources = translator.reads.encode([pair.source for pair in portion])
        targets = [[*ids, END] for ids in translator.writes.encode([pair.target for pair in portion])]
        with torch.inference_mode(), trace(translator.model) as seen:
            translator.read(sources, targets)
        rows = [translator.writes.words(ids) for ids in targets]
        columns = [translator.reads.words(ids) for ids in sources]
        for path, weights_BHTS in seen.all("weights").items():
            if not path.endswith("cross"):
                continue
            for weights_HTS, row, column in zip(weights_BHTS.cpu().numpy(), rows, columns, strict=True):
                for head, merged in enumerate(alignment.merge(weights_HTS, row, column)):
                    found.setdefault((path, head), []).append(alignment.links_of(merged))
    return {head: alignment.error_rate(links, gold) for head, links in found.items()}
