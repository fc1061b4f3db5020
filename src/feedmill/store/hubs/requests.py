"""Requests to WebSub hubs that are due: taken with a lease, and their outcome recorded by the holder."""

from datetime import datetime
from typing import Any

from sqlalchemy import Integer, bindparam, select

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.syndication.push import HubMode, HubSubscription
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.hubs.subscriptions import step_to_stop_pushes, to_subscription
from feedmill.store.leases import Leases
from feedmill.store.schema import hub_subscriptions

_of = hub_subscriptions.c
_due = _of.next_attempt_at <= bindparam("now")
WAITING = select(_of.id).where(_due).order_by(_of.next_attempt_at, _of.id).limit(bindparam("most", type_=Integer))
LEASES = Leases(hub_subscriptions, _of.id, _due, WAITING, select(hub_subscriptions).order_by(_of.id))
release_requests = LEASES.release

_claimed = (_of.id == bindparam("subscription_id"), _of.claim_token == bindparam("token"))
# Before the request is sent: the hub may confirm it before it answers.
ASKING = (
    hub_subscriptions.update()
    .where(*_claimed)
    .values(asked=bindparam("mode"), new_secret=bindparam("secret_to_confirm"), attempts=_of.attempts + 1)
)
# Only if the hub has not confirmed it meanwhile, which gives the claim back.
SETTLED = (
    hub_subscriptions.update()
    .where(*_claimed)
    .values(last_error=bindparam("reason"), next_attempt_at=bindparam("again_at"), claim_token=None)
)
# Its secret ends with the lease: pushes are known as repeated for a limited time only.
LAPSED = hub_subscriptions.update().where(*_claimed).values(lease_until=None, secret=None)
DROP = hub_subscriptions.delete().where(*_claimed)


async def take_requests(db: Database, now: datetime, most: int) -> tuple[str, list[HubSubscription]]:
    """Claims subscriptions for which a request is due; nobody else gets them until the lease ends."""
    token, rows = await LEASES.take(db, now, most=most)
    return token, [to_subscription(row) for row in rows]


async def record_asking(db: Database, asking: HubSubscription, token: str, mode: HubMode, secret: str | None) -> bool:
    """Records what the hub is about to be asked for; False when the claim is lost."""
    values = _key(asking, token) | {"mode": mode, "secret_to_confirm": secret}
    return await db.batch([Step(ASKING, values)]) == [1]


async def record_answer(
    db: Database, asked: HubSubscription, token: str, again_at: datetime, problem: Message | None
) -> None:
    """Records when the hub is asked again, unless it confirms the request before, and what went wrong."""
    values = {"again_at": to_iso(again_at), "reason": None if problem is None else message_to_stored(problem)}
    await db.batch([Step(SETTLED, _key(asked, token) | values)])


async def record_lapse(db: Database, lapsed: HubSubscription, token: str, reason: Message, now: datetime) -> None:
    """Records that the hub no longer pushes, because the lease has ended; the feed is fetched at once."""
    await db.batch([Step(LAPSED, _key(lapsed, token)), step_to_stop_pushes(lapsed.feed_id, reason, now)])


async def drop_unanswered(db: Database, ended: HubSubscription, token: str) -> None:
    """Deletes a subscription that is no longer wanted, though the hub did not confirm its end."""
    await db.batch([Step(DROP, _key(ended, token))])


def _key(subscription: HubSubscription, token: str) -> dict[str, Any]:
    return {"subscription_id": subscription.id, "token": token}
