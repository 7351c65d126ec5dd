"""Where data comes from. A `Source` is a description, small enough to stand in a signature and in run.json."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.data.corpus import Corpus

# Nothing is imported before somebody asks for examples: command lines and listings are made of descriptions.


@dataclass(frozen=True)
class Source:
    place: str = "scenes"
    """A folder, a file, hf:org/name, or `scenes`: the embedded data."""
    columns: str = ""
    """Which columns or keys hold source and target: 1,2 or names; empty: the first two, or what is named so."""
    skip_bad: bool = False
    """Go on after a bad line, and count it."""

    def parallel(self, source: str, target: str) -> "Corpus":
        """Return the pairs of two languages that are here."""
        if self.place == "scenes":
            from regard.data.scenes import Scenes

            return Scenes(source=source, target=target)
        from regard.data.parallel import Parallel

        return Parallel(self.place, source, target, columns=self.columns, skip_bad=self.skip_bad)


SCENES = Source()
