"""How a run is trained, whatever it learns: the flags that every recipe has."""

from dataclasses import dataclass, fields, replace
from typing import Any, Literal


@dataclass(frozen=True)
class Plan:
    """What the loop needs to know. A recipe sets its own defaults; every field is a flag of `regard train`."""

    steps: int = 1000
    """Updates of the parameters."""
    batch: int = 4096
    """Target tokens (text) or examples (everything else) in one batch."""
    accumulate: int = 1
    """Batches whose gradients are added up before one update."""
    rate: float = 1e-3
    """The highest learning rate that the schedule reaches."""
    schedule: Literal["paper", "cosine", "linear", "constant"] = "cosine"
    """paper: warm-up, then 1/√step; cosine and linear: warm-up, then down to zero at the last step."""
    warmup: int = 100
    """Steps over which the rate rises."""
    optimizer: Literal["adam", "adamw"] = "adam"
    """Adam as in the paper, or with decoupled weight decay."""
    decay: float = 0.0
    """Weight decay of AdamW, on matrices only."""
    clip: float = 1.0
    """The largest norm of a gradient; 0 leaves it as it is."""
    average: str = "none"
    """Average the parameters of the last or best N checkpoints at the end: last:10, best:5, none."""
    patience: int = 0
    """Stop after so many looks without a better score; 0 never stops early."""
    look_every: int = 500
    """Steps between looks: scores and samples of the validation data."""
    draw_every: int = 1000
    """Steps between drawings of curves.png."""
    save_every: int = 500
    """Steps between checkpoints."""
    keep: int = 3
    """The newest checkpoints that stay."""
    best: int = 1
    """The best checkpoints that stay."""
    seed: int = 1
    """Everything random follows from it."""
    device: str = "cpu"
    """Where the model lives: cpu, cuda, cuda:1."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """What the model computes in while training; the parameters themselves stay float32."""
    threads: int = 0
    """Threads of the processor; 0 takes one for each core."""
    minutes: float = 0.0
    """Stop by the clock, saved, as if interrupted; the schedule does not change. 0 never stops."""

    def __post_init__(self) -> None:
        least = {"steps": 1, "batch": 1, "accumulate": 1, "look_every": 1, "draw_every": 1, "save_every": 1, "keep": 1}
        for name, low in least.items():
            if getattr(self, name) < low:
                raise ValueError(f"--{name.replace('_', '-')} is {getattr(self, name)}, but must be at least {low}")
        for name in ("rate", "warmup", "decay", "clip", "patience", "best", "seed", "threads", "minutes"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"--{name.replace('_', '-')} is {getattr(self, name)}, but cannot be negative")
        if self.averaged()[0] == "best" and self.look_every % self.save_every:
            raise ValueError(
                f"--average {self.average} needs a checkpoint at every look: --look-every is {self.look_every}, but "
                f"must be a multiple of --save-every, which is {self.save_every}"
            )

    def averaged(self) -> tuple[str, int]:
        """Return which checkpoints are averaged at the end, and how many: ("last", 10); ("none", 0) for none."""
        which, _, count = self.average.partition(":")
        if which in ("last", "best") and count.isdigit() and int(count) > 0:
            return which, int(count)
        if self.average == "none":
            return "none", 0
        raise ValueError(f"--average is {self.average!r}, but must be none, last:N or best:N, for example last:10")

    def changed(self, flags: dict[str, Any]) -> "Plan":
        """Return this plan with the given flags instead of its own."""
        unknown = set(flags) - {field.name for field in fields(self)}
        assert not unknown, unknown
        return replace(self, **flags)
