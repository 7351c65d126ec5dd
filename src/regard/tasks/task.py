"""What the rest of the program asks of a task, and nothing else."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from torch import Tensor, nn

from regard.metrics.score import Score


class Term(NamedTuple):
    """A sum over what counts in a batch, and how much it matters in the loss; at 0 it is only watched."""

    total: Tensor
    weight: float = 1.0


class Loss(dict[str, Term]):
    """Named terms. Divided by the counts it is the scalar that training makes small."""

    def __truediv__(self, counts: dict[str, int]) -> Tensor:
        terms = [term.weight * term.total / counts[name] for name, term in self.items() if term.weight]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    def plus(self, other: "Loss") -> "Loss":
        """Return the sums over two batches."""
        return Loss({name: Term(term.total + other[name].total, term.weight) for name, term in self.items()})


class Sample(NamedTuple):
    """Something that a person can judge."""

    source: str
    output: str
    reference: str = ""


class Batch(Protocol):
    def to(self, device: str) -> "Batch":
        """Return the batch on a device."""

    def tensors(self) -> dict[str, Tensor]:
        """Return what the batch is made of, by name."""


class Task(Protocol):
    verbs: dict[str, Callable[..., Any]]
    """What an opened run can do: translate, caption, classify, …; each takes the model first."""

    def prepare(self) -> None:
        """Make from the data what the model's sizes depend on, unless it was restored."""

    def sizes(self) -> dict[str, int]:
        """Return what the model must know of the data; before `prepare`, what was asked for."""

    def batches(self, split: str, *, seed: int, step: int, size: int) -> Iterator[Batch]:
        """Yield batches of a split from the one of a step on, epoch after epoch, without end."""

    def counts(self, batches: Sequence[Any]) -> dict[str, int]:
        """Return what the sums of the loss are divided by, known from the data alone."""

    def loss(self, model: nn.Module, batch: Any, step: int) -> Loss:
        """Return the loss of a batch as named sums."""

    def splits(self) -> list[str]:
        """Return the splits of the data by name."""

    def evaluate(
        self, model: nn.Module, split: str, *, beam: int = 1, most: int | None = None, outputs: Path | None = None
    ) -> dict[str, Score]:
        """Return scores; higher is better in the first, which decides which checkpoint is best.

        `most` says how many examples are judged by what the model makes of them (None: all), `beam` how many
        hypotheses a search keeps, and `outputs` is a file for what was judged.
        """

    def show(self, model: nn.Module) -> list[Sample]:
        """Return a few outputs."""

    def describe(self) -> dict[str, Any]:
        """Return what the data are: files, fingerprints, pairs, what was left out."""

    def save(self, folder: Path) -> None:
        """Write what is needed to answer without the data."""

    def restore(self, folder: Path) -> None:
        """Read what `save` wrote."""


def add_up(losses: Iterable[tuple[Loss, dict[str, int]]]) -> dict[str, float]:
    """Return the mean of every term over several batches."""
    totals: dict[str, float] = {}
    counted: dict[str, int] = {}
    for loss, counts in losses:
        for name, term in loss.items():
            totals[name] = totals.get(name, 0.0) + float(term.total)
            counted[name] = counted.get(name, 0) + counts[name]
    return {name: totals[name] / counted[name] for name in totals}
