"""Text in, text out: how a trained encoder–decoder answers.

Texts are cut into pieces where they are too long, sorted by length, searched in batches, and come out in their order.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from regard import decoding
from regard.data.batches import portions
from regard.data.vocabulary import END, PAD, START, Vocabulary
from regard.decoding.contract import Hypothesis, Limits
from regard.metrics import alignment
from regard.trace import trace

# The most tokens of a text that the model reads at once; a longer one is translated in pieces.
LONGEST_SOURCE = 256
# Texts that are sorted by length together.
SORTED_TOGETHER = 1024


class Translation(NamedTuple):
    """A translation, and how sure the model is: the sum of the log-probabilities of its ids."""

    text: str
    score: float
    penalised: float
    ids: list[list[int]]
    """The ids of each piece, the end included."""
    links: list[tuple[int, int]]
    """(source word, target word), where an alignment was asked for."""


class Links(NamedTuple):
    """Which attention an alignment is read from: None is the layer before the last, and the average of its heads."""

    attention: str | None = None
    head: int | None = None


class Piece(NamedTuple):
    text: str
    ids: list[int]
    first: bool = True
    joint: str = ""
    """What stood between this piece and the one before: a space or nothing."""


@dataclass(frozen=True)
class Translator:
    """A model with its vocabularies."""

    model: nn.Module
    reads: Vocabulary
    writes: Vocabulary

    def translations(
        self,
        texts: Sequence[str],
        *,
        search: str = "beam",
        batch: int = 64,
        prefix: str = "",
        seed: int = 1,
        first: int = 0,
        alignments: bool = False,
        attention: str | None = None,
        head: int | None = None,
        **options: Any,
    ) -> Iterator[list[Translation]]:
        """Return the translations of each text, best first, in the order of the texts.

        `options` are the search's own (width, length_penalty, n_best, temperature, …); `first` is the number of the
        first text, which sampling depends on. `alignments` asks for the links of an attention to the source: of one
        head or of their average, in the layer before the last (where they are best, Garg 2019) or in a named one.
        """
        find = self.searcher(search, options)  # what is wrong with the options is said before the first text
        links = Links(attention, head) if alignments else None
        return self.found(texts, find, links, batch, prefix, seed, first)

    def found(
        self,
        texts: Sequence[str],
        find: Callable[..., list[list[Hypothesis]]],
        links: Links | None,
        batch: int,
        prefix: str,
        seed: int,
        first: int,
    ) -> Iterator[list[Translation]]:
        """Yield what `find` finds for each text."""
        forced = self.writes.encode([prefix])[0] if prefix else []
        for number, together in enumerate(portions(texts, SORTED_TOGETHER)):
            cut = [self.pieces(text) for text in together]
            flat = [piece for pieces in cut for piece in pieces]
            start = first + number * SORTED_TOGETHER
            # A sentence's random numbers follow from its place in the input, whatever it is batched with.
            numbers = [
                seed * 1_000_003 + (start + row) * 1009 + place
                for row, pieces in enumerate(cut)
                for place in range(len(pieces))
            ]
            found: list[list[Hypothesis]] = [[] for _ in flat]
            order = sorted(range(len(flat)), key=lambda place: len(flat[place].ids))
            for rows in portions(order, batch):
                beginnings = [forced if flat[row].first else [] for row in rows]
                answers = find([flat[row].ids for row in rows], beginnings, [numbers[row] for row in rows])
                for row, hypotheses in zip(rows, answers, strict=True):
                    found[row] = hypotheses
            remaining = iter(found)
            for pieces in cut:
                answers = [next(remaining) for _ in pieces]
                yield [
                    self.joined(pieces, [answer[min(rank, len(answer) - 1)] for answer in answers], links)
                    for rank in range(max((len(answer) for answer in answers), default=1))
                ]

    def translate(self, texts: Sequence[str], **options: Any) -> list[str]:
        """Return the best translation of each text."""
        if isinstance(texts, str):
            raise ValueError("translate takes a list of texts; for a single one write translate([text])[0]")
        return [best[0].text for best in self.translations(texts, **options)]

    def score(self, sources: Sequence[str], targets: Sequence[str], batch: int = 64) -> list[float]:
        """Return the log-probability of each target, its end included, given its source."""
        if len(sources) != len(targets):
            raise ValueError(f"there are {len(sources)} sources and {len(targets)} targets; each needs the other")
        return self.score_ids(self.reads.encode(sources), [[*ids, END] for ids in self.writes.encode(targets)], batch)

    def score_ids(self, sources: list[list[int]], targets: list[list[int]], batch: int = 64) -> list[float]:
        """Return the log-probability of target ids, ends included, given source ids."""
        scores: list[float] = []
        with torch.inference_mode():
            for rows in portions(list(zip(sources, targets, strict=True)), batch):
                logits_BTV, target_BT = self.read([source for source, _ in rows], [target for _, target in rows])
                found_BT = logits_BTV.float().log_softmax(-1).gather(-1, target_BT[..., None])[..., 0]
                scores += found_BT.masked_fill(target_BT == PAD, 0.0).sum(-1).tolist()
        return scores

    def read(self, sources: list[list[int]], targets: list[list[int]]) -> tuple[Tensor, Tensor]:
        """Return the logits of finished targets read through the model once, and the targets as a table."""
        source_BS, lengths_B = self.table(sources)
        target_BT, _ = self.table(targets)
        asked_BT = torch.cat([torch.full_like(target_BT[:, :1], START), target_BT[:, :-1]], dim=1)
        return self.model(source_BS, lengths_B, asked_BT), target_BT

    def weights(self, source: list[int], target: list[int], links: Links) -> Tensor:
        """Return the weights T×S that one attention really used, of one head or on average."""
        with torch.inference_mode(), trace(self.model) as seen:
            self.read([source], [target])
        crosses = {path: weights for path, weights in seen.all("weights").items() if path.endswith("cross")}
        attention = links.attention or list(crosses)[-2:][0]
        if attention not in crosses:
            raise ValueError(f"there is no attention {attention!r} to the source; there are: {', '.join(crosses)}")
        weights_HTS = crosses[attention][0]
        if links.head is None:
            return weights_HTS.mean(0)
        if not 0 <= links.head < len(weights_HTS):
            raise ValueError(f"head {links.head} was asked for, but {attention} has 0 to {len(weights_HTS) - 1}")
        return weights_HTS[links.head]

    def searcher(self, search: str, options: dict[str, Any]) -> Callable[..., list[list[Hypothesis]]]:
        """Return a function from a batch of source ids, a forced beginning and random numbers to hypotheses."""
        method = decoding.find(search)
        known = decoding.options(search)
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise ValueError(f"--search {search} has no option {unknown[0]}; it has: {', '.join(known) or 'none'}")

        encoder: Any = self.model.encoder
        decoder: Any = self.model.decoder

        def find(sources: list[list[int]], prefix: list[list[int]], numbers: list[int]) -> list[list[Hypothesis]]:
            longest = [len(begin) + 2 * len(ids) + 20 for ids, begin in zip(sources, prefix, strict=True)]
            places = decoder.longest
            limits = Limits(
                longest=longest if places is None else [min(each, places) for each in longest],
                end=END,
                never=(PAD, START),
                prefix=prefix if any(prefix) else None,
            )
            seeds = {"seeds": numbers} if "seeds" in known else {}
            with torch.inference_mode():
                source_BS, lengths_B = self.table(sources)
                state = decoder.start(encoder(source_BS, lengths_B))
                begin = torch.full((len(sources),), START, device=source_BS.device)
                found: list[list[Hypothesis]] = method(decoder, state, begin, limits, **options, **seeds)
                return found

        return find

    def table(self, texts: list[list[int]]) -> tuple[Tensor, Tensor | None]:
        """Return ids as a padded table on the model's device, and their lengths where any is padded."""
        device = next(self.model.parameters()).device
        lengths = [len(ids) for ids in texts]
        widest = max(lengths)
        rows = [[*ids, *[PAD] * (widest - len(ids))] for ids in texts]
        table = torch.tensor(rows, dtype=torch.long, device=device)
        return table, torch.tensor(lengths, device=device) if min(lengths) < widest else None

    def pieces(self, text: str) -> list[Piece]:
        """Return a text as pieces that the model can read; an empty one has none."""
        if not text.strip():
            return []
        ids = self.reads.encode([text])[0]
        places: int | None = self.model.encoder.longest  # type: ignore[union-attr, assignment]
        if len(ids) <= min(LONGEST_SOURCE, places or LONGEST_SOURCE):
            return [Piece(text, ids)]
        at = middle(text)
        left, right = text[:at], text[at:]
        before, behind = self.pieces(left.rstrip()), self.pieces(right.lstrip())
        if not (before and behind):
            return before or behind
        joint = " " if right[:1].isspace() or left[-1:].isspace() else ""
        return [*before, behind[0]._replace(first=False, joint=joint), *behind[1:]]

    def joined(self, pieces: list[Piece], answers: list[Hypothesis], wanted: Links | None) -> Translation:
        """Return the translations of the pieces of one text as one."""
        texts = self.writes.decode([answer.ids for answer in answers])
        text = "".join(
            piece.joint * (place > 0) + part for place, (piece, part) in enumerate(zip(pieces, texts, strict=True))
        )
        links: list[tuple[int, int]] = []
        if wanted is not None:
            sources = targets = 0
            for piece, answer in zip(pieces, answers, strict=True):
                weights = self.weights(piece.ids, answer.ids, wanted).cpu().numpy()
                rows, columns = self.writes.words(answer.ids), self.reads.words(piece.ids)
                merged = alignment.merge(weights, rows, columns)
                links += [(source + sources, target + targets) for source, target in sorted(alignment.links_of(merged))]
                sources, targets = sources + len(columns), targets + len(rows)
        score = sum(answer.score for answer in answers)
        return Translation(text, score, sum(a.penalised for a in answers), [a.ids for a in answers], links)


def middle(text: str) -> int:
    """Return where to cut a text that is too long: the end of a sentence, of a clause or of a word near its middle."""
    half, reach = len(text) // 2, len(text) // 4
    for ends in (".!?…。！？", ";:,、，；", " \t\n"):
        # A point inside 3.14 ends nothing; the signs of scripts without spaces always do.
        near = [
            at + 1
            for at in range(half - reach, half + reach)
            if text[at] in ends and (text[at].isspace() or text[at + 1].isspace() or text[at] > "\u2000")
        ]
        if near:
            return min(near, key=lambda at: abs(at - half))
    return max(half, 1)
