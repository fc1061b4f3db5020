"""Mills as the drills see them: started, killed, stopped and waited for, and all ended at the end."""

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.cli.command import environment
from tests.faults.mill import Plan
from tests.fork_server.client import ForkedProcess, fork_server

ROOT = Path(__file__).parents[2]


@dataclass
class Mill:
    """A process of the product."""

    process: ForkedProcess
    log: Path
    ended: asyncio.Future[int] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def is_alive(self) -> bool:
        return not self.ended.done()

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    async def kill(self) -> None:
        self.signal(signal.SIGKILL)
        await self.ended

    async def stop(self, seconds: float = 30) -> int:
        """Asks it to end, and fails if that takes longer than it may; its exit code."""
        self.signal(signal.SIGTERM)
        return await asyncio.wait_for(asyncio.shield(self.ended), seconds)

    def said(self) -> str:
        return self.log.read_text() if self.log.exists() else ""


class Mills:
    """Starts mills; whatever happens, none outlives the block, nor does what it started."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mills: list[Mill] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for mill in self._mills:
            with suppress(ProcessLookupError):
                os.killpg(mill.pid, signal.SIGKILL)
            await mill.ended

    async def start(self, plan: Plan) -> Mill:
        log = self._folder / f"mill-{len(self._mills)}.log"
        mill = Mill(await asyncio.to_thread(self._fork, plan, log), log)
        asyncio.get_running_loop().add_reader(mill.process.exit_pipe, self._note_end, mill)
        self._mills.append(mill)
        return mill

    def said(self) -> str:
        """What all of them have logged."""
        return "".join(mill.said() for mill in self._mills)

    def _fork(self, plan: Plan, log: Path) -> ForkedProcess:
        with open(os.devnull) as nothing, log.open("a") as out:
            return fork_server().start(
                "tests.faults.mill:run_plan",
                asdict(plan),
                folder=self._folder,
                environment=environment(),
                streams=(nothing.fileno(), out.fileno(), out.fileno()),
            )

    def _note_end(self, mill: Mill) -> None:
        asyncio.get_running_loop().remove_reader(mill.process.exit_pipe)
        mill.ended.set_result(mill.process.wait())
