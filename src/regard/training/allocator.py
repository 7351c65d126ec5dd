"""How memory is taken from the system.

glibc gives large blocks back as soon as they are free, and the system clears every page again when the next training
step asks for them. Keeping them makes a step on a CPU a quarter faster (docs/journal.md). Other C libraries are left
as they are.
"""

import ctypes
import platform

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4


def keep_memory() -> None:
    """Keep freed memory for the next allocation of this process."""
    if platform.libc_ver()[0] != "glibc":
        return
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(M_MMAP_MAX, 0)
    mallopt(M_TRIM_THRESHOLD, -1)
    mallopt(M_TOP_PAD, 64 << 20)
