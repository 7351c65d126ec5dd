"""Translation memories (TMX 1.4): units of segments in several languages.

What a file declares besides is not followed: a DTD is not fetched, and a file that declares entities is refused, since
a short one can unfold to gigabytes. Codes of the program the text came from (bpt, ept, it, ph, ut) are no text;
highlighted text (hi) is.
"""

from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from regard.data.corpus import Pair
from regard.data.lines import Ask, Bad, Fault, Left, Line, Row, checked, opened, same_language

BLOCK = 1 << 16


def read(path: Path, ask: Ask) -> Iterator[Line]:
    parser = expat.ParserCreate()
    units = Units(parser, path, ask)
    found = 0
    with opened(path) as stream:
        while True:
            block = stream.read(BLOCK)
            try:
                parser.Parse(block, not block)
            except expat.ExpatError as reason:
                raise ValueError(f"{path}:{reason.lineno}: {expat.ErrorString(reason.code)}; this is not TMX") from None
            found += sum(not isinstance(line, Left) for line in units.lines)
            yield from units.lines
            units.lines.clear()
            if not block:
                break
    if not found:
        languages = ", ".join(sorted(units.languages)) or "none"
        raise ValueError(f"{path} has no {ask.source}-{ask.target} units; its languages are {languages}")


class Units:
    """What the parser calls: collects the lines of all units that have ended."""

    def __init__(self, parser: expat.XMLParserType, path: Path, ask: Ask) -> None:
        self.parser, self.path, self.ask = parser, path, ask
        self.lines: list[Line] = []
        self.languages: set[str] = set()
        self.segments: dict[str, str] = {}
        self.line, self.language = 0, ""
        self.text: list[str] = []
        self.inside: list[str] = []  # the elements from <seg> inwards
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.EntityDeclHandler = self.entity
        parser.SkippedEntityHandler = self.skipped

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self.inside or name == "seg":
            self.inside.append(name)
        elif name == "tu":
            self.segments, self.line = {}, self.parser.CurrentLineNumber
        elif name == "tuv":
            self.language = attributes.get("xml:lang") or attributes.get("lang") or ""
            self.languages.add(self.language)
            self.text = []

    def characters(self, text: str) -> None:
        if self.inside and all(name in ("seg", "hi") for name in self.inside):
            self.text.append(text)

    def end(self, name: str) -> None:
        if self.inside:
            self.inside.pop()
        elif name == "tuv":
            self.segments.setdefault(self.language, "".join(self.text))
        elif name == "tu":
            self.lines.append(self.unit())

    def unit(self) -> Line:
        sides = []
        for language in (self.ask.source, self.ask.target):
            codes = [code for code in self.segments if same_language(code, language)]
            if not codes:
                return Left(str(self.path), self.line, f"without {language}")
            sides.append(self.segments[min(codes, key=len)])  # en rather than en-US
        try:
            pair = Pair(checked(sides[0], self.ask.source), checked(sides[1], self.ask.target))
        except Fault as fault:
            return Bad(str(self.path), self.line, fault.reason, fault.detail)
        return Row(str(self.path), self.line, pair)

    def entity(self, name: str, *_: object) -> None:
        raise ValueError(
            f"{self.path}:{self.parser.CurrentLineNumber}: declares the entity {name!r}; such files are not read"
        )

    def skipped(self, name: str, _: bool) -> None:
        raise ValueError(f"{self.path}:{self.parser.CurrentLineNumber}: the entity &{name}; is not known")
