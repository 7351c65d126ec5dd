"""Train, run and look inside the attention systems of the lectures.

import regard
translator = regard.open("runs/en-fr")
translator.translate(["I am a student."])
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.open import open as open

__version__ = "0.1.0"


class _Package(ModuleType):
    """The package itself: `regard.open` is the function, although the module that defines it has the same name.

    Importing `regard/open.py` sets the package's attribute to the module; the setter below lets that pass. A plain
    `__getattr__` (PEP 562) would work once and find the module the second time.
    """

    @property
    def open(self):  # type: ignore[no-untyped-def]  # its type is the function's, above
        from regard.open import open

        return open

    @open.setter
    def open(self, module: ModuleType) -> None:
        pass


sys.modules[__name__].__class__ = _Package
