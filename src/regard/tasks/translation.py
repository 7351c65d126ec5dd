"""Learning to translate: pairs of texts in, a translator out."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from regard.data.batches import Buckets, Ints, Rows
from regard.data.corpus import Corpus, Pair
from regard.data.vocabulary import END, PAD, START, Kind, Vocabulary
from regard.metrics import text as texts
from regard.metrics.score import Score
from regard.tasks.aligning import error_rates
from regard.tasks.losses import cross_entropy
from regard.tasks.task import Loss, Sample, Term, add_up
from regard.tasks.translator import Translator

Judge = Literal["bleu", "exact"]

SHOWN = 5


class PairBatch(NamedTuple):
    """Sources, and targets twice: as they are fed and, one place on, as they are wanted."""

    source_BS: Tensor
    lengths_B: Tensor | None
    """How long each source is; None where nothing is padded."""
    target_BT: Tensor
    labels_BT: Tensor
    counted_BT: Tensor

    def to(self, device: str) -> "PairBatch":
        return PairBatch._make(None if x is None else x.to(device, non_blocking=True) for x in self)

    def tensors(self) -> dict[str, Tensor]:
        return {name: x for name, x in self._asdict().items() if x is not None}


class Encoded(NamedTuple):
    """The pairs of a split as ids."""

    source: Rows
    target: Rows
    left_out: int
    """Pairs that were too long to train with."""


class Translation:
    """The task: `vocabulary` tokens at most (of `kind`, one vocabulary for both sides or two), pairs of at most
    `longest` tokens a side to train with, labels smoothed, and the score that decides which checkpoint is best."""

    def __init__(
        self,
        corpus: Corpus,
        *,
        vocabulary: int = 8000,
        kind: Kind = "bpe",
        joint: bool = True,
        smoothing: float = 0.1,
        longest: int = 256,
        judge: Judge = "bleu",
    ) -> None:
        if not 0 <= smoothing < 1:
            raise ValueError(f"--smoothing is {smoothing}, but must be at least 0 and less than 1")
        self.corpus = corpus
        self.asked = vocabulary
        self.kind = kind
        self.joint = joint
        self.smoothing = smoothing
        self.longest = longest
        self.judge = judge
        self.vocabularies: tuple[Vocabulary, Vocabulary] | None = None
        self.read: dict[str, list[Pair]] = {}
        self.encoded: dict[str, Encoded] = {}
        self.verbs: dict[str, Callable[..., Any]] = {
            "translate": lambda model, *args, **options: self.translator(model).translate(*args, **options),
            "translations": lambda model, *args, **options: self.translator(model).translations(*args, **options),
            "score": lambda model, *args, **options: self.translator(model).score(*args, **options),
            "align": self.align,
        }

    # What the data decide.

    def prepare(self) -> None:
        if self.vocabularies is not None:
            return
        pairs = self.pairs("train")
        sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
        if self.joint:
            shared = Vocabulary.train(sources + targets, self.kind, self.asked)
            self.vocabularies = shared, shared
        else:
            reads, writes = (Vocabulary.train(side, self.kind, self.asked) for side in (sources, targets))
            self.vocabularies = reads, writes

    def sizes(self) -> dict[str, int]:
        reads, writes = (v.size for v in self.vocabularies) if self.vocabularies else (self.asked, self.asked)
        return {"vocabulary": writes} if self.joint else {"vocabulary": writes, "source_vocabulary": reads}

    def describe(self) -> dict[str, Any]:
        left_out = self.rows("train").left_out
        return {**self.corpus.describe(), **({"too long to train with": left_out} if left_out else {})}

    def save(self, folder: Path) -> None:
        reads, writes = self.known
        writes.save(folder / "tokenizer.json")
        if not self.joint:
            reads.save(folder / "tokenizer.source.json")

    def restore(self, folder: Path) -> None:
        writes = Vocabulary.read(folder / "tokenizer.json")
        apart = folder / "tokenizer.source.json"
        if apart.exists() == self.joint:
            raise ValueError(
                f"{folder} has {'two vocabularies' if self.joint else 'one vocabulary'} but "
                f"{'one is' if self.joint else 'two are'} wanted; use {'--no-joint' if self.joint else '--joint'}"
            )
        self.vocabularies = (writes if self.joint else Vocabulary.read(apart)), writes

    @property
    def known(self) -> tuple[Vocabulary, Vocabulary]:
        """The vocabularies that are read and written with."""
        assert self.vocabularies is not None, "prepare or restore comes first"
        return self.vocabularies

    # What the loop asks.

    def pairs(self, split: str) -> list[Pair]:
        """Return the pairs of a split, read once."""
        if split not in self.read:
            self.read[split] = self.corpus.pairs(split)
        return self.read[split]

    def rows(self, split: str) -> Encoded:
        """Return the pairs of a split as ids, those that are not too long."""
        if split not in self.encoded:
            pairs = self.pairs(split)
            reads, writes = self.known
            source = reads.encode([pair.source for pair in pairs])
            target = writes.encode([pair.target for pair in pairs])
            fits = [max(len(s), len(t)) < self.longest for s, t in zip(source, target, strict=True)]
            if split == "train" and not any(fits):
                raise ValueError(f"no pair to train with has less than {self.longest} tokens a side; raise --longest")
            self.encoded[split] = Encoded(
                Rows([ids for ids, fit in zip(source, fits, strict=True) if fit]),
                Rows([ids for ids, fit in zip(target, fits, strict=True) if fit]),
                fits.count(False),
            )
        return self.encoded[split]

    def batches(self, split: str, *, seed: int, step: int, size: int) -> Iterator[PairBatch]:
        rows = self.rows(split)
        for chosen in self.buckets(rows, size).from_step(seed, step):
            yield pair_batch(rows, chosen)

    def once(self, split: str, size: int = 4096) -> Iterator[PairBatch]:
        """Yield every pair of a split in one batch or another, once."""
        rows = self.rows(split)
        for chosen in self.buckets(rows, size).once():
            yield pair_batch(rows, chosen)

    def buckets(self, rows: Encoded, size: int) -> Buckets:
        return Buckets(rows.source.lengths, rows.target.lengths + 1, size)

    def counts(self, batches: Sequence[PairBatch]) -> dict[str, int]:
        tokens = sum(int(batch.counted_BT.sum()) for batch in batches)
        return {"loss": tokens, "nll": tokens}

    def loss(self, model: nn.Module, batch: PairBatch, step: int) -> Loss:
        logits_BTV = model(batch.source_BS, batch.lengths_B, batch.target_BT)
        smoothed, nll = cross_entropy(logits_BTV, batch.labels_BT, batch.counted_BT, self.smoothing)
        return Loss(loss=Term(smoothed), nll=Term(nll, weight=0.0))

    def splits(self) -> list[str]:
        return self.corpus.splits()

    def evaluate(
        self,
        model: nn.Module,
        split: str,
        *,
        beam: int = 1,
        most: int | None = None,
        outputs: Path | None = None,
    ) -> dict[str, Score]:
        """Return scores of the translations of a split's first `most` sentences, and the mean loss of all of it.

        The loss leaves out pairs that are too long to train with. `outputs` is a file for the translations, one a line.
        """
        pairs = self.pairs(split)[:most]
        search: dict[str, Any] = {"search": "beam", "width": beam} if beam > 1 else {"search": "greedy"}
        found = self.translator(model).translate([pair.source for pair in pairs], **search)
        if outputs is not None:
            outputs.write_text("".join(texts.one_line(text) + "\n" for text in found), encoding="utf-8")
        scores = self.judged(split, pairs, found)
        device = str(next(model.parameters()).device)
        with torch.inference_mode():
            means = add_up((self.loss(model, batch.to(device), 0), self.counts([batch])) for batch in self.once(split))
        return {**scores, **{name: Score(value) for name, value in means.items()}}

    def judged(self, split: str, pairs: list[Pair], outputs: list[str]) -> dict[str, Score]:
        """Return what outputs are worth: the score that decides first, then what the corpus itself can judge."""
        references = [pair.target for pair in pairs]
        scores = {"exact": Score(100 * texts.exact(outputs, references).value)}
        if self.judge == "bleu":
            scores = {
                "bleu": texts.bleu(outputs, references),
                "chrf": texts.chrf(outputs, references),
                "bleu lower-cased": texts.bleu(outputs, references, lowercase=True),
            }
        measured = self.corpus.measures(split, outputs) if self.judge == "bleu" else {}
        return {**scores, **{name: Score(100 * value) for name, value in measured.items()}}

    def align(self, model: nn.Module, split: str) -> dict[str, Score]:
        """Return the alignment error rate of every head; first that of the head which is best on validation data."""
        translator, rates = self.translator(model), {}
        for name in {"val", split}:
            gold = self.corpus.alignments(name)
            if gold is None:
                raise ValueError("the data bring no gold alignments; leave --alignments away")
            rates[name] = error_rates(translator, self.pairs(name), gold)
        best = min(rates["val"], key=lambda head: (rates["val"][head], head))
        chosen = f"alignment error rate, {best[0]} head {best[1]} (chosen on val)"
        return {chosen: Score(rates[split][best])} | {
            f"alignment error rate, {path} head {head}": Score(rate) for (path, head), rate in rates[split].items()
        }

    def show(self, model: nn.Module) -> list[Sample]:
        pairs = self.pairs("val")[:SHOWN]
        outputs = self.translator(model).translate([pair.source for pair in pairs], search="greedy")
        return [Sample(pair.source, output, pair.target) for pair, output in zip(pairs, outputs, strict=True)]

    def translator(self, model: nn.Module) -> Translator:
        return Translator(model, *self.known)


def pair_batch(rows: Encoded, chosen: Ints) -> PairBatch:
    """Return some pairs as tensors."""
    source_BS = rows.source.padded(chosen, PAD)
    target_BT = rows.target.padded(chosen, PAD)
    lengths_B, places_B1 = rows.source.lengths[chosen], rows.target.lengths[chosen][:, None]
    begin_B1 = np.full((len(chosen), 1), START, np.int64)
    labels_BT = np.concatenate([target_BT, np.full_like(begin_B1, PAD)], axis=1)
    np.put_along_axis(labels_BT, places_B1, END, axis=1)
    counted_BT = np.arange(labels_BT.shape[1]) <= places_B1
    return PairBatch(
        torch.from_numpy(source_BS),
        torch.from_numpy(lengths_B) if lengths_B.min() < lengths_B.max() else None,
        torch.from_numpy(np.concatenate([begin_B1, target_BT], axis=1)),
        torch.from_numpy(labels_BT),
        torch.from_numpy(counted_BT),
    )
