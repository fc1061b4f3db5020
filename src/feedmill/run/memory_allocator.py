"""Makes the C library return large blocks of memory to the system as soon as they are free.

By default glibc keeps blocks of up to 32 MB once it has seen one, in an arena for each of many threads: after a feed of
12 MB the server kept 130 MB for ever, which a small machine does not have.
"""

import ctypes

# From malloc.h.
M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8
LARGE_BLOCK = 256 * 1024
ARENAS = 2


def return_freed_memory() -> None:
    """Sets the allocator of this process; does nothing where the C library is not glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)
        mallopt(M_ARENA_MAX, ARENAS)
