"""A database in which somebody else writes between the statements of a test."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from feedmill.store.database import Database, Params, Row, Step


@dataclass
class BusyDatabase:
    """Runs `meanwhile` right after each batch."""

    inner: Database
    meanwhile: Callable[[], Awaitable[object]]

    @property
    def dialect_name(self) -> str:
        return self.inner.dialect_name

    async def query(self, statement: Any, params: Params | None = None) -> list[Row]:
        return await self.inner.query(statement, params or {})

    async def batch(self, steps: list[Step]) -> list[int]:
        done = await self.inner.batch(steps)
        await self.meanwhile()
        return done
