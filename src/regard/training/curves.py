"""curves.png: loss and score against step."""

import math
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def draw(lines: list[dict[str, Any]], path: Path) -> None:
    """Draw the log's looks: the loss of training and validation above, the deciding score below."""
    figure = Figure(figsize=(7, 6), layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True)
    steps = [line["step"] for line in lines]
    marker = "o" if len(lines) < 30 else ""
    for part, colour in (("train", "#9aa5b1"), ("val", "#1f5fa8")):
        points = [line[part].get("nll", next(iter(line[part].values()), None)) for line in lines]
        above.plot(steps, points, color=colour, marker=marker, markersize=3, label=part)
    above.set_ylabel("−log p of a token")
    above.legend(frameon=False)
    score = next(iter(lines[0]["val"]))
    points = [math.nan if line["val"][score] is None else line["val"][score] for line in lines]
    below.plot(steps, points, color="#1f5fa8", marker=marker, markersize=3)
    best = max(range(len(points)), key=lambda place: (not math.isnan(points[place]), points[place], -place))
    below.annotate(
        f"best {points[best]:.2f} at step {steps[best]}",
        (steps[best], points[best]),
        (4, -12),
        textcoords="offset points",
        fontsize=9,
    )
    below.set_ylabel(f"{score} (validation)")
    below.set_xlabel("step")
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    figure.savefig(path, dpi=120, format="png")
