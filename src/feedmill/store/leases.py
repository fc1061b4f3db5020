"""Takes due rows of a task table with a lease and a token, and releases them.

A lease is a `next_attempt_at` in the future: the tasks of a process that died are due again when it ends.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any

from sqlalchemy import Column, ColumnElement, Select, Table, Update, bindparam

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, one_of

LEASE = timedelta(seconds=180)


def new_claim_token() -> str:
    """A token that no other claim has. It is short because it is written twice for each fetch; it is no secret."""
    return token_hex(8)


async def take_with_token(
    db: Database,
    take: Update,
    claimed: Select[Any],
    release: Update,
    ids: Sequence[int],
    now: datetime,
    lease: timedelta,
) -> tuple[str, list[Row]]:
    """Takes those of these rows that are still due; the token of the lease, and the rows."""
    token = new_claim_token()
    if not ids:
        return token, []
    at = to_iso(now)
    values = {"ids": as_list(list(ids)), "token": token, "now": at, "until": to_iso(now + lease)}
    try:
        [taken] = await db.batch([Step(take, values)])
        return token, await db.query(claimed, values) if taken else []
    except asyncio.CancelledError:
        # Whether the rows were taken is unknown, and only this call knows the token.
        await asyncio.shield(db.batch([Step(release, values | {"again_at": at})]))
        raise


class Leases:
    """Leases on the rows of a table with `next_attempt_at` and `claim_token`; `key` identifies a row.

    `waiting` selects keys of what is `due` at `now`; `claimed` selects what is handed out of the rows with a `token`.
    `attempts`: a column that counts how often a row was taken without being released.
    """

    def __init__(
        self,
        table: Table,
        key: Column[Any],
        due: ColumnElement[bool],
        waiting: Select[Any],
        claimed: Select[Any],
        attempts: Column[int] | None = None,
    ) -> None:
        counted = {} if attempts is None else {attempts.name: attempts + 1}
        uncounted = {} if attempts is None else {attempts.name: 0}
        has_token = table.c.claim_token == bindparam("token")
        self._key = key.name
        self._waiting = waiting
        self._take = (
            table.update()
            .where(one_of(key, "ids"), due)
            .values(claim_token=bindparam("token"), next_attempt_at=bindparam("until"), **counted)
        )
        self._claimed = claimed.where(has_token)
        self._release = (
            table.update().where(has_token).values(claim_token=None, next_attempt_at=bindparam("again_at"), **uncounted)
        )

    async def take(self, db: Database, now: datetime, **limits: int | str) -> tuple[str, list[Row]]:
        """Takes due rows; the token of the lease, and the rows, which nobody else gets until it ends."""
        waiting = [row[self._key] for row in await db.query(self._waiting, {"now": to_iso(now), **limits})]
        return await take_with_token(db, self._take, self._claimed, self._release, waiting, now, LEASE)

    async def release(self, db: Database, token: str, now: datetime) -> None:
        """Releases the rows that were taken and not settled; they are due at once."""
        await db.batch([Step(self._release, {"token": token, "again_at": to_iso(now)})])
