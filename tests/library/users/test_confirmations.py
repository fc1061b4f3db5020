"""Confirmation tokens on every database: of many uses at once one counts, and expired ones leave no row."""

import asyncio
from datetime import UTC, datetime, timedelta
from secrets import token_hex

from sqlalchemy import select

from feedmill.library.users.confirmations import (
    LIFETIME,
    ConfirmableAction,
    ConfirmationUsed,
    make_confirmation,
    use_confirmation_token,
)
from feedmill.store.database import Database
from feedmill.store.schema import locks

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
ACTION = ConfirmableAction(1, "unsubscribe", "feed_id=1")


async def test_of_many_uses_at_once_one_counts(any_db: Database) -> None:
    key = token_hex(32)
    made = make_confirmation(key, ACTION, NOW)

    uses = [use_confirmation_token(any_db, key, ACTION, made.token, NOW) for _ in range(5)]
    results = await asyncio.gather(*uses, return_exceptions=True)

    assert results.count(None) == 1
    assert [type(result) for result in results].count(ConfirmationUsed) == 4


async def test_the_rows_of_expired_tokens_are_dropped(any_db: Database) -> None:
    key, later = token_hex(32), NOW + LIFETIME + timedelta(seconds=1)
    for at in (NOW, later):
        await use_confirmation_token(any_db, key, ACTION, make_confirmation(key, ACTION, at).token, at)

    assert len(await any_db.query(select(locks.c.name).where(locks.c.name.like("confirmation:%")))) == 1
