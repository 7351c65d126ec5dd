"""Scenes, the embedded data: pictures to be, their captions in English, French, Italian and German, and stories.

Read scene.py (what a caption says), captions.py, pronoun.py and ambiguous.py (how it is said), items.py (which
examples a split has), corpus.py (pairs and alignments).
"""

from regard.data.scenes.corpus import Scenes
from regard.data.scenes.files import write
from regard.data.scenes.lexicon import LANGUAGES

__all__ = ["LANGUAGES", "Scenes", "write"]
