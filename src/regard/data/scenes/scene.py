"""A scene: one to three objects in a plane, and how they stand to each other, read off their boxes.

The plane is 64 by 64, its origin at the top left. An object fills a square box; boxes do not overlap. Objects are
mentioned from left to right, by the middle of their boxes. What a caption says of their places follows from the boxes.
"""

from typing import NamedTuple

PLANE = 64

NOUNS = (
    "ball", "box", "star", "house", "tree", "boat", "car", "umbrella",
    "key", "flower", "fish", "hat", "heart", "clock", "ladder", "boot",
)  # fmt: skip
COLOURS = ("red", "blue", "green", "yellow", "black", "white", "grey", "brown", "purple", "pink")
SIDES = {"small": 14, "big": 20, "enormous": 26}
SIZES = tuple(SIDES)

NEAR = 4
"""The widest gap between two neighbours that are next to each other."""
TOUCHING = 2
"""The widest gap between an object and what it is on."""

PLACES = ("top left", "top", "top right", "left", "middle", "right", "bottom left", "bottom", "bottom right")


class Box(NamedTuple):
    left: int
    top: int
    right: int
    bottom: int

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


class Thing(NamedTuple):
    """An object of a scene."""

    noun: str
    colour: str
    size: str
    box: Box


class Scene(NamedTuple):
    """One to three objects in the order in which they are mentioned."""

    objects: tuple[Thing, ...]


class Arrangement(NamedTuple):
    """What a caption says about places: its kind, and the places or relations in the order of mention.

    place       one object and where it is in the picture
    pair        how the first stands to the second
    row         three objects, nothing said but their order
    chain       how the first stands to the second, and how the second stands to the third
    corner      how the first stands to the second; the third is to the right of both
    """

    kind: str
    relations: tuple[str, ...] = ()


ARRANGEMENTS = {
    1: tuple(Arrangement("place", (place,)) for place in PLACES),
    2: tuple(Arrangement("pair", (relation,)) for relation in ("left", "right", "next", "on", "above", "under")),
    3: (
        Arrangement("row"),
        *(Arrangement("chain", (a, b)) for a in ("left", "next") for b in ("on", "above", "under")),
        *(Arrangement("corner", (a,)) for a in ("on", "above", "under")),
    ),
}
"""Every arrangement of so many objects. A pair of given sizes has five: it is either *left* or *right*."""


def scene(*objects: Thing) -> Scene:
    """Return the scene of these objects, put into the order of mention."""
    for i, one in enumerate(objects):
        if any(overlap(one.box, other.box) for other in objects[:i]):
            raise ValueError(f"the boxes of a scene must not overlap, but that of the {one.noun} does: {one.box}")
    return Scene(tuple(sorted(objects, key=lambda one: one.box.middle[0])))


def overlap(a: Box, b: Box) -> bool:
    """Say whether two boxes share a pixel."""
    return a.left < b.right and b.left < a.right and a.top < b.bottom and b.top < a.bottom


def place(box: Box) -> str:
    """Return where a box is in the picture, by the third that its middle lies in."""
    x, y = box.middle
    row = "top" if y < 25 else "bottom" if y > 39 else ""
    column = "left" if x < 25 else "right" if x > 39 else ""
    return f"{row} {column}".strip() or "middle"


def stacked(a: Box, b: Box) -> bool:
    """Say whether one box is over the other: they share a column of pixels."""
    return a.left < b.right and b.left < a.right


def relation(a: Box, b: Box) -> str:
    """Return how a box stands to one that is mentioned after it: on, above or under it, next to it, left of it."""
    if stacked(a, b):
        if a.bottom > b.top:
            return "under"
        return "on" if b.top - a.bottom <= TOUCHING else "above"
    beside = a.top < b.bottom and b.top < a.bottom
    return "next" if beside and b.left - a.right <= NEAR else "left"


def arrangement(scene: Scene) -> Arrangement:
    """Return what the caption of a scene says about places."""
    boxes = [thing.box for thing in scene.objects]
    if len(boxes) == 1:
        return Arrangement("place", (place(boxes[0]),))
    a, b = boxes[:2]
    if len(boxes) == 2:
        found = relation(a, b)
        # A caption places the smaller thing by the larger: a ball left of the house, right of the house a ball.
        larger_first = a.right - a.left > b.right - b.left
        return Arrangement("pair", ("right" if found == "left" and larger_first else found,))
    c = boxes[2]
    if stacked(b, c) and not stacked(a, b):
        return Arrangement("chain", (relation(a, b), relation(b, c)))
    if stacked(a, b) and not stacked(b, c) and relation(a, c) == "left":
        return Arrangement("corner", (relation(a, b),))
    return Arrangement("row")


def label(scene: Scene) -> int:
    """Return the class of a one-object scene: the number of its noun in NOUNS."""
    if len(scene.objects) != 1:
        raise ValueError(f"only a scene of one object has a label, and this one has {len(scene.objects)}")
    return NOUNS.index(scene.objects[0].noun)


def describe(scene: Scene) -> dict[str, object]:
    """Return a scene as plain data: what a picture of it is drawn from."""
    kind, relations = arrangement(scene)
    objects = [thing._asdict() | {"box": list(thing.box)} for thing in scene.objects]
    described: dict[str, object] = {"objects": objects, "arrangement": kind, "relations": list(relations)}
    return described | ({"label": label(scene)} if len(objects) == 1 else {})
