"""How close outputs are to their references: BLEU and chrF as the `sacrebleu` command computes them, and equality."""

from collections.abc import Sequence

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from regard.metrics.score import Score


def bleu(outputs: Sequence[str], references: Sequence[str], lowercase: bool = False) -> Score:
    """Return the corpus BLEU, 0 to 100, with sacrebleu's signature; `lowercase` is `sacrebleu --lowercase`."""
    return _sacrebleu(BLEU(lowercase=lowercase, force=True), outputs, references)


def chrf(outputs: Sequence[str], references: Sequence[str], lowercase: bool = False) -> Score:
    """Return the corpus chrF2, 0 to 100, with sacrebleu's signature; `lowercase` is `sacrebleu --chrf-lowercase`."""
    return _sacrebleu(CHRF(lowercase=lowercase), outputs, references)


def exact(outputs: Sequence[str], references: Sequence[str]) -> Score:
    """Return the fraction of outputs that equal their reference, 0 to 1."""
    _check(outputs, references)
    equal = sum(output == reference for output, reference in zip(outputs, references, strict=True))
    return Score(equal / len(outputs))


def one_line(text: str) -> str:
    """Return the text as it is written into a file of one text a line; scores are those of such files."""
    return text.replace("\n", " ")


def _sacrebleu(metric: BLEU | CHRF, outputs: Sequence[str], references: Sequence[str]) -> Score:
    _check(outputs, references)
    result = metric.corpus_score([one_line(text) for text in outputs], [[one_line(text) for text in references]])
    return Score(float(result.score), str(metric.get_signature()))


def _check(outputs: Sequence[str], references: Sequence[str]) -> None:
    if len(outputs) != len(references):
        raise ValueError(f"{len(outputs)} outputs came for {len(references)} references; give one for each")
    if not outputs:
        raise ValueError("there is nothing to score: no outputs came")
