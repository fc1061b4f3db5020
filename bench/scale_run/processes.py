"""The processes of a run: starts and ends them, and notices if one ends by itself."""

import asyncio
import subprocess
import sys
from pathlib import Path

from fast_clock import begin_day

LONGEST_STOP = 60


class ProcessEnded(Exception):
    """A process ended by itself; the message has the end of its log."""


class Processes:
    """`pids` has the running ones by name. The role of a process is its name up to the hyphen."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.pids: dict[str, int] = {}
        self.kills = 0

    def start(self, name: str) -> None:
        """A process that replaces another one has a name of its own, because it writes files of its own."""
        command = [sys.executable, str(Path(__file__).parent / "worker.py"), str(self.work / "plan.json"), name]
        with (self.work / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(command, cwd=self.work, stdout=log, stderr=log)
        self.pids[name] = self._running[name].pid

    def kill(self, name: str) -> None:
        self._running.pop(name).kill()
        self.pids.pop(name)
        self.kills += 1

    async def begin_day(self) -> float:
        """Waits until all are ready but the API, which has no clock; when the day begins, in real seconds."""
        names = [name for name in self._running if not name.startswith("api")]
        waiting = asyncio.create_task(begin_day(self.work, names))
        while not waiting.done():
            self.check()
            await asyncio.sleep(0.1)
        return await waiting

    def check(self) -> None:
        for name, process in self._running.items():
            if process.poll() is not None:
                log = (self.work / f"{name}.log").read_text(errors="replace")
                raise ProcessEnded(f"{name} ended with {process.returncode}: {log[-3000:]}")

    def end_all(self) -> list[str]:
        """The names of those that did not end when they were told to."""
        stuck = []
        for process in self._running.values():
            process.terminate()
        for name, process in self._running.items():
            try:
                process.wait(LONGEST_STOP)
            except subprocess.TimeoutExpired:
                process.kill()
                stuck.append(name)
        self._running.clear()
        return stuck
