"""Memory that large feeds took goes back to the system."""

import platform
import subprocess
import sys

import pytest

# Small blocks between the large ones stay, as entries and cached statements do.
SCRIPT = """
import ctypes, gc, os
from feedmill.run.memory_allocator import return_freed_memory

def resident_mb():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

return_freed_memory()
feed = bytearray(30 * 2**20)
del feed
before = resident_mb()
blocks = [(bytearray(2 * 2**20), bytearray(1000)) for _ in range(50)]
small = [block for _, block in blocks]
del blocks
gc.collect()
print(resident_mb() - before)
"""


@pytest.mark.external
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these settings")
def test_freed_blocks_of_a_large_feed_are_returned_to_the_system() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)

    assert float(done.stdout) < 10
