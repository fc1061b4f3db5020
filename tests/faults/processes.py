"""Starts, kills and stops Feedmill processes, and ends all of them after the test."""

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.cli.command import environment
from tests.faults.process_main import ProcessPlan
from tests.fork_server.client import ForkedProcess, fork_server
from tests.waiting import LONGEST_WAIT

ROOT = Path(__file__).parents[2]


@dataclass
class FeedmillProcess:
    """A process of the product."""

    forked: ForkedProcess
    log: Path
    ended: asyncio.Future[int] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def pid(self) -> int:
        return self.forked.pid

    @property
    def is_alive(self) -> bool:
        return not self.ended.done()

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    async def kill(self) -> None:
        self.signal(signal.SIGKILL)
        await self.ended

    async def stop(self, seconds: float = LONGEST_WAIT) -> int:
        """Asks it to end, and fails if that takes longer than it may; its exit code."""
        self.signal(signal.SIGTERM)
        return await asyncio.wait_for(asyncio.shield(self.ended), seconds)

    def logged_text(self) -> str:
        return self.log.read_text() if self.log.exists() else ""


class FeedmillProcesses:
    """Starts processes; at the end of the block they and their children are killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[FeedmillProcess] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            # One that has only just begun has no group of its own yet.
            if process.is_alive:
                process.signal(signal.SIGKILL)
            await process.ended

    async def start(self, plan: ProcessPlan) -> FeedmillProcess:
        log = self._folder / f"process-{len(self._processes)}.log"
        process = FeedmillProcess(await asyncio.to_thread(self._fork, plan, log), log)
        asyncio.get_running_loop().add_reader(process.forked.exit_pipe, self._record_exit, process)
        self._processes.append(process)
        return process

    def logged_text(self) -> str:
        """What all of them have logged."""
        return "".join(process.logged_text() for process in self._processes)

    def _fork(self, plan: ProcessPlan, log: Path) -> ForkedProcess:
        with open(os.devnull) as nothing, log.open("a") as out:
            return fork_server().start(
                "tests.faults.process_main:run_plan",
                asdict(plan),
                folder=self._folder,
                environment=environment(),
                streams=(nothing.fileno(), out.fileno(), out.fileno()),
            )

    def _record_exit(self, process: FeedmillProcess) -> None:
        asyncio.get_running_loop().remove_reader(process.forked.exit_pipe)
        process.ended.set_result(process.forked.wait())
