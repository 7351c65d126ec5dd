"""Lines as they come, from a file, a pipe or a person: never waiting for more than there is.

Lines end at a line feed only, so the other separators of Unicode stay inside the text; a carriage return before the
line feed belongs to the ending. A mark of byte order at the very start is dropped.
"""

import os
import select
from collections.abc import Iterator
from typing import BinaryIO

BLOCK = 1 << 16


def chunks(file: BinaryIO, name: str, most: int = 1024) -> Iterator[list[str]]:
    """Yield the lines that are there, at most so many at once; where the writer pauses, a chunk ends.

    So a typed line is answered at once, and a long file goes through in large chunks and little memory.
    """
    count = 0
    for waiting in whole_lines(file, most):
        for start in range(0, len(waiting), most):
            lines = waiting[start : start + most]
            yield [decoded(line, name, count + n) for n, line in enumerate(lines, start=1)]
            count += len(lines)


def whole_lines(file: BinaryIO, most: int) -> Iterator[list[bytes]]:
    """Yield the lines that have ended, whenever there are enough of them or the next ones are not there yet."""
    ended: list[bytes] = []
    begun: list[bytes] = []  # the pieces of a line whose end is still to come
    while block := os.read(file.fileno(), BLOCK):
        first, *others = block.split(b"\n")
        begun.append(first)
        if others:
            ended += [b"".join(begun), *others[:-1]]
            begun = [others[-1]]
        if ended and (len(ended) >= most or not readable(file)):
            yield ended
            ended = []
    last = b"".join(begun)
    if ended or last:
        yield [*ended, last] if last else ended


def readable(file: BinaryIO) -> bool:
    """Return whether reading goes on without waiting."""
    return bool(select.select([file], [], [], 0)[0])


def decoded(line: bytes, name: str, number: int) -> str:
    """Return a line as text, or say which one is not."""
    try:
        return line.removesuffix(b"\r").decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name}, line {number}: byte {error.start + 1} is not UTF-8; convert the text first, "
            "for example with iconv -f latin1 -t utf-8"
        ) from error
