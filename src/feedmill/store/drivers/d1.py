"""The driver for Cloudflare D1, through the proxy worker (`deploy/proxy-worker`): one POST per call.

JSON has one type of number, so a float without a fraction is returned as an int: 2.0 as 2.
"""

from collections.abc import Sequence

from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.sql import Executable

from feedmill.errors import StatementRefused
from feedmill.i18n.messages import Message
from feedmill.store.database import NO_PARAMS, Params, Row, Step
from feedmill.store.dialect import Compiler
from feedmill.store.drivers.d1_proxy import RESPONSE_SECONDS, D1ProxyClient
from feedmill.store.drivers.d1_statements import (
    MAX_STATEMENTS,
    D1Statement,
    counted_statement,
    many_statements,
    one_statement,
    raw_statement,
)


class D1Database:
    dialect_name = "sqlite"

    def __init__(
        self,
        url: str,
        token: str,
        *,
        answer_seconds: float = RESPONSE_SECONDS,
        statements_per_batch: int = MAX_STATEMENTS,
    ) -> None:
        self._proxy = D1ProxyClient(url, token, answer_seconds)
        self._statements_per_batch = statements_per_batch
        self._compile = Compiler(sqlite_dialect(paramstyle="qmark"))

    async def query(self, statement: Executable, params: Params = NO_PARAMS) -> list[Row]:
        return await self._proxy.query(one_statement(self._compile(statement), params))

    async def batch(self, steps: Sequence[Step]) -> list[int]:
        work = [self._statements(*step) for step in steps]
        counts = iter(await self._run([statement for statements in work for statement in statements]))
        changed = [sum(next(counts) for _ in statements) for statements in work]
        many = [isinstance(step.params, Sequence) for step in steps]
        return [-1 if listed else count for listed, count in zip(many, changed, strict=True)]

    async def exec(self, sql: str) -> None:
        await self._proxy.exec(raw_statement(sql))

    async def close(self) -> None:
        await self._proxy.close()

    def _statements(self, statement: Executable, params: Params | Sequence[Params]) -> list[D1Statement]:
        compiled = self._compile(statement)
        if isinstance(params, Sequence):
            return many_statements(compiled, params)
        return [counted_statement(compiled, params)]

    async def _run(self, statements: list[D1Statement]) -> list[int]:
        if len(statements) > self._statements_per_batch:
            most = self._statements_per_batch
            raise StatementRefused(Message("database.d1_statements", most=most, given=len(statements)))
        return await self._proxy.batch(statements) if statements else []
