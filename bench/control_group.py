"""A control group of Linux that limits processes to some memory and a share of one core, and says what they used.

Version 1 or 2, whichever has the memory controller; needs root. Its memory includes the pages of files that the
processes have read or written, so reaching the limit is normal: the kernel then drops such pages. Only a kill is not.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

MOUNT = Path("/sys/fs/cgroup")
PERIOD_US = 100_000
CONTROLLERS = ("memory", "cpu", "cpuset", "cpuacct")


class ControlGroup(Protocol):
    """The limits and the use of a group of processes; sizes in bytes."""

    def join(self) -> None:
        """Moves the calling process into the group."""

    def cpu_seconds(self) -> float: ...
    def peak_memory(self) -> int: ...
    def anonymous_memory(self) -> int: ...
    def times_at_limit(self) -> int: ...
    def kills(self) -> int: ...
    def remove(self) -> None: ...


@dataclass(frozen=True)
class GroupV1:
    """A folder of the same name in the hierarchy of each controller."""

    name: str

    def limit(self, memory: int, cpu_percent: int, core: int) -> None:
        for controller in CONTROLLERS:
            (MOUNT / controller / self.name).mkdir()
        self._write("memory", "memory.limit_in_bytes", memory)
        self._write("cpuset", "cpuset.cpus", core)
        self._write("cpuset", "cpuset.mems", 0)
        self._write("cpu", "cpu.cfs_period_us", PERIOD_US)
        self._write("cpu", "cpu.cfs_quota_us", PERIOD_US * cpu_percent // 100)

    def join(self) -> None:
        for controller in CONTROLLERS:
            self._write(controller, "cgroup.procs", os.getpid())

    def cpu_seconds(self) -> float:
        return int(self._read("cpuacct", "cpuacct.usage")) / 1e9

    def peak_memory(self) -> int:
        return int(self._read("memory", "memory.max_usage_in_bytes"))

    def anonymous_memory(self) -> int:
        return _field(self._read("memory", "memory.stat"), "total_rss")

    def times_at_limit(self) -> int:
        return int(self._read("memory", "memory.failcnt"))

    def kills(self) -> int:
        return _field(self._read("memory", "memory.oom_control"), "oom_kill")

    def remove(self) -> None:
        for controller in CONTROLLERS:
            _remove(MOUNT / controller / self.name)

    def _read(self, controller: str, file: str) -> str:
        return (MOUNT / controller / self.name / file).read_text()

    def _write(self, controller: str, file: str, value: int) -> None:
        (MOUNT / controller / self.name / file).write_text(str(value))


@dataclass(frozen=True)
class GroupV2:
    """One folder with the files of all controllers."""

    folder: Path

    def limit(self, memory: int, cpu_percent: int, core: int) -> None:
        (MOUNT / "cgroup.subtree_control").write_text("+memory +cpu +cpuset")
        self.folder.mkdir()
        (self.folder / "memory.max").write_text(str(memory))
        (self.folder / "memory.swap.max").write_text("0")
        (self.folder / "cpuset.cpus").write_text(str(core))
        (self.folder / "cpu.max").write_text(f"{PERIOD_US * cpu_percent // 100} {PERIOD_US}")

    def join(self) -> None:
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def cpu_seconds(self) -> float:
        return _field(self._read("cpu.stat"), "usage_usec") / 1e6

    def peak_memory(self) -> int:
        return int(self._read("memory.peak"))

    def anonymous_memory(self) -> int:
        return _field(self._read("memory.stat"), "anon")

    def times_at_limit(self) -> int:
        return _field(self._read("memory.events"), "max")

    def kills(self) -> int:
        return _field(self._read("memory.events"), "oom_kill")

    def remove(self) -> None:
        _remove(self.folder)

    def _read(self, file: str) -> str:
        return (self.folder / file).read_text()


@contextmanager
def control_group(memory: int, cpu_percent: int) -> Iterator[ControlGroup]:
    """A new group with so much memory and that share of the last core; it is removed at the end."""
    if os.geteuid() != 0:
        raise SystemExit("needs root: it limits the memory and the CPU time of processes (cgroups)")
    name = f"feedmill-bench-{os.getpid()}"
    group = GroupV1(name) if (MOUNT / "memory").is_dir() else GroupV2(MOUNT / name)
    try:
        group.limit(memory, cpu_percent, max(os.sched_getaffinity(0)))
        yield group
    finally:
        group.remove()


def _field(text: str, name: str) -> int:
    return next(int(line.split()[1]) for line in text.splitlines() if line.split()[0] == name)


def _remove(folder: Path, seconds: float = 10) -> None:
    """Waits until the last process has left: the kernel counts it for a moment after its end."""
    deadline = time.monotonic() + seconds
    while folder.exists():
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
