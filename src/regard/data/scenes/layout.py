"""Boxes for a wanted arrangement: drawn so that reading them gives the arrangement back.

Boxes are laid out around the origin by half their sides, with gaps that can be seen at 32×32, and then shifted as a
whole to somewhere in the plane. The widest of all, three enormous boxes, just fit.
"""

from collections.abc import Sequence

from regard.data.draw import Draw
from regard.data.scenes.scene import PLANE, SIDES, Arrangement, Box

FAR = 7
"""The narrowest gap between two boxes of which one is left of the other."""

Point = tuple[int, int]


def boxes(wanted: Arrangement, sizes: Sequence[str], draw: Draw) -> list[Box]:
    """Return boxes of these sizes, in the order of mention, that stand as wanted."""
    halves = [SIDES[size] // 2 for size in sizes]
    if wanted.kind == "place":
        (half,) = halves
        return [_box((_third(wanted, "left", "right", half, draw), _third(wanted, "top", "bottom", half, draw)), half)]
    points = {"pair": _pair, "row": _row, "chain": _chain, "corner": _corner}[wanted.kind](
        wanted.relations, halves, draw
    )
    return _settle(points, halves, draw)


def _third(wanted: Arrangement, low: str, high: str, half: int, draw: Draw) -> int:
    words = wanted.relations[0].split()
    if low in words:
        return half + draw.below(21 - half)
    if high in words:
        return PLANE - half - draw.below(21 - half)
    return 29 + draw.below(7)


def _over(relation: str, a: int, b: int, widest: int, draw: Draw) -> int:
    """Return how far below the middle of the first box that of the second lies."""
    if relation == "on":
        return a + b
    if relation == "above":
        return a + b + 6 + draw.below(widest - 5)
    return -(a + b + draw.below(widest + 1))


def _aside(draw: Draw) -> int:
    """Return how far right of the first box the second is that stands over or under it."""
    return 3 + draw.below(3)


def _pair(relations: Sequence[str], halves: Sequence[int], draw: Draw) -> list[Point]:
    (relation,), (a, b) = relations, halves
    if relation == "next":
        return [(0, 0), (a + b + 1 + draw.below(2), draw.below(9) - 4)]
    if relation in ("left", "right"):
        return [(0, 0), (a + b + FAR + draw.below(PLANE - 2 * a - 2 * b - FAR + 1), draw.below(25) - 12)]
    return [(0, 0), (_aside(draw), _over(relation, a, b, 12, draw))]


def _row(relations: Sequence[str], halves: Sequence[int], draw: Draw) -> list[Point]:
    a, b, c = halves
    free = PLANE - 2 * (a + b + c) - 4
    if free >= 0:
        gap = draw.below(free + 1)
        x = a + b + 2 + gap, a + 2 * b + c + 4 + gap + draw.below(free - gap + 1)
        heights = [half + draw.below(PLANE - 2 * half + 1) for half in (a, b, c)]
        return [(0, heights[0]), (x[0], heights[1]), (x[1], heights[2])]
    # Too wide for a row: the second goes over or under the gap between the others.
    x_last = a + c + 2 + draw.below(3)
    down = max(a, c) + b + 1 + draw.below(10)
    return [(0, 0), (x_last // 2, draw.among((down, -down))), (x_last, 0)]


def _chain(relations: Sequence[str], halves: Sequence[int], draw: Draw) -> list[Point]:
    (first, second), (a, b, c) = relations, halves
    right, down = _aside(draw), _over(second, b, c, 8, draw)
    free = PLANE - (2 * a + FAR + b + max(b, right + c))
    gap = 1 + draw.below(2) if first == "next" else FAR + draw.below(free + 1)
    # The first box ends where the second ends, on the side of the third, so that it cannot run into the third.
    edge = b - a - draw.below(5)
    return [(-(a + b + gap), edge if down > 0 else -edge), (0, 0), (right, down)]


def _corner(relations: Sequence[str], halves: Sequence[int], draw: Draw) -> list[Point]:
    (relation,), (a, b, c) = relations, halves
    right, down = _aside(draw), _over(relation, a, b, 8, draw)
    reach = max(a, right + b)
    free = PLANE - (max(a, b - right) + reach + FAR + 2 * c)
    return [(0, 0), (right, down), (reach + FAR + draw.below(free + 1) + c, draw.below(9) - 4)]


def _settle(points: Sequence[Point], halves: Sequence[int], draw: Draw) -> list[Box]:
    """Shift everything together to somewhere in the plane."""
    around = [_box(point, half) for point, half in zip(points, halves, strict=True)]
    left, top = min(box.left for box in around), min(box.top for box in around)
    x = draw.below(PLANE - max(box.right for box in around) + left + 1) - left
    y = draw.below(PLANE - max(box.bottom for box in around) + top + 1) - top
    return [Box(left + x, top + y, right + x, bottom + y) for left, top, right, bottom in around]


def _box(middle: Point, half: int) -> Box:
    x, y = middle
    return Box(x - half, y - half, x + half, y + half)
