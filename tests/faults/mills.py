"""Mills as the drills see them: started, killed, stopped and waited for, and all ended at the end."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.faults.mill import Plan
from tests.faults.nursery import encode

ROOT = Path(__file__).parents[2]


@dataclass
class Mill:
    """A process of the product."""

    pid: int
    log: Path
    ended: asyncio.Future[int] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

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
    """Starts mills from a nursery of its own; whatever happens, none outlives the block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mills: dict[int, Mill] = {}
        self._births: asyncio.Queue[Mill] = asyncio.Queue()
        self._started = 0

    async def __aenter__(self) -> Self:
        self._nursery = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.faults.nursery", cwd=ROOT, start_new_session=True,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            env={name: value for name, value in os.environ.items() if not name.startswith("FEEDMILL_")}
            | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        )  # fmt: skip
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._nursery.pid, signal.SIGKILL)
        await self._nursery.wait()
        await self._listening

    async def start(self, plan: Plan) -> Mill:
        log = self._folder / f"mill-{self._started}.log"
        self._started += 1
        assert self._nursery.stdin is not None
        self._nursery.stdin.write(encode(plan, log))
        birth = asyncio.create_task(self._births.get())
        await asyncio.wait([birth, self._listening], return_when=asyncio.FIRST_COMPLETED)
        assert birth.done(), "the nursery ended"
        mill = birth.result()
        mill.log = log
        return mill

    async def _listen(self) -> None:
        assert self._nursery.stdout is not None
        async for line in self._nursery.stdout:
            match line.decode().split():
                case ["born", pid]:
                    self._mills[int(pid)] = mill = Mill(int(pid), Path())
                    self._births.put_nowait(mill)
                case ["ended", pid, code]:
                    self._mills.pop(int(pid)).ended.set_result(int(code))
