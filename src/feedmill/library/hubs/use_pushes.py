"""Refreshes feeds with what hubs pushed: lease the push → claim the feed → refresh → both ends in one batch.

A push whose process dies is used again when its lease ends. One that only tells that there is news, that is no feed or
that the object store has lost makes the feed be fetched.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

import msgspec

from feedmill.collect.hub_links import is_light_push
from feedmill.collect.refresh import RefreshTools, refresh_feed
from feedmill.collect.scheduling.cadence import while_pushed
from feedmill.engine.leased_tasks import run_leased_tasks
from feedmill.errors import BlobMissing
from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import Claim
from feedmill.model.fetch_outcome import Freshness, Response, Validators
from feedmill.model.hosts import host_of
from feedmill.model.refresh import RawBody, RefreshDecision, Unchanged, Updated
from feedmill.model.syndication.push import HubMode, PushedBody
from feedmill.store.database import Step
from feedmill.store.feeds.claims import claim_feeds, release_claims
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.hubs.pushes import (
    StoredPush,
    drop_push,
    give_up_push,
    postpone_push,
    prune_pushes,
    record_fetched_push,
    release_pushes,
    steps_to_finish_push,
    take_pushes,
)

log = get_logger(__name__)

AT_ONCE = 20
SOFT_LIMIT = timedelta(seconds=80)
# While the feed is being refreshed.
BUSY_WAIT = timedelta(seconds=1)
# A push with which so many processes have died is not tried again; its feed is fetched.
MAX_ATTEMPTS = 3
# Longer than secrets are valid: two leases at most.
KEEP = timedelta(days=90)
# The status of a raw body that came by a push: there was no response.
NO_STATUS = 0


@dataclass(frozen=True, slots=True)
class PushUser:
    """Uses queued pushes. Several processes may do so: each push is taken by one."""

    tools: RefreshTools

    async def use(self) -> int:
        """Refreshes feeds with some of the pushes that wait; how many were used."""
        tools = self.tools
        token, pushes = await take_pushes(tools.db, tools.clock(), AT_ONCE)
        if not pushes:
            return 0

        async def release() -> None:
            await release_pushes(tools.db, token, tools.clock())

        queues = _by_feed(pushes)
        used: list[StoredPush] = []
        await run_leased_tasks([self._use_in_order(queue, used) for queue in queues], SOFT_LIMIT, release)
        return len(used)

    async def prune(self, now: datetime) -> int:
        """Forgets old pushes; how many there were."""
        return await prune_pushes(self.tools.db, now - KEEP)

    async def _use_in_order(self, queue: Sequence[StoredPush], used: list[StoredPush]) -> None:
        for push in queue:
            if await self._use(push):
                used.append(push)

    async def _use(self, push: StoredPush) -> bool:
        """False if the feed is being refreshed: the push waits."""
        db, now, feed_id = self.tools.db, self.tools.clock(), push.subscription.feed_id
        if push.attempts > MAX_ATTEMPTS:
            log.error("push_given_up", feed_id=feed_id, hub=push.subscription.hub_url, object_key=push.object_key)
            await give_up_push(db, push, now)
            return True
        claims = await claim_feeds(db, [feed_id], now)
        if claims and _is_wanted(claims[0], push):
            await self._refresh(claims[0], push)
            return True
        if not claims and await feeds_of_ids(db, [feed_id]):
            await postpone_push(db, push, now + BUSY_WAIT)
            return False
        await release_claims(db, claims)
        await drop_push(db, push)
        return True

    async def _refresh(self, claim: Claim, push: StoredPush) -> None:
        lease_until = push.subscription.lease_until or self.tools.clock()

        async def finish(claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
            return steps_to_finish_push(push, self.tools.clock())

        pushed = None if is_light_push(push.subscription.topic_url) else await self._body(push, lease_until)
        decision = await refresh_feed(self.tools, claim, finish, pushed=pushed)
        if isinstance(decision, Unchanged) or (isinstance(decision, Updated) and not decision.is_push):
            # It was fetched because the hub told us to, so what is new was not missed.
            schedule = while_pushed(self.tools.clock(), host_of(push.subscription.hub_url), self.tools.jitter())
            await record_fetched_push(self.tools.db, push, lease_until, schedule)

    async def _body(self, push: StoredPush, lease_until: datetime) -> PushedBody | None:
        """The body; None if the object store has no longer what was pushed."""
        try:
            body = await self.tools.blobs.get(push.object_key)
        except BlobMissing:
            return None
        if sha256(body).hexdigest() != push.sha256:
            return None
        raw = RawBody(push.object_key, push.sha256, len(body), push.headers, NO_STATUS, push.received_at)
        return PushedBody(_response(push, body), raw, lease_until)


def _is_wanted(claim: Claim, push: StoredPush) -> bool:
    """Whether the feed still takes pushes: one at rest has no readers, is disabled, or was merged into another."""
    return push.subscription.wanted is HubMode.SUBSCRIBE and claim.feed.next_fetch_at is not None


def _response(push: StoredPush, body: bytes) -> Response:
    """The push as the response of a fetch, for the parser and the decision."""
    topic_url = push.subscription.topic_url
    return Response(
        url=topic_url,
        final_url=topic_url,
        status=NO_STATUS,
        headers=msgspec.json.decode(push.headers, type=dict[str, str]),
        body=body,
        content_type=push.content_type,
        validators=Validators(),
        freshness=Freshness(),
        permanent_url=None,
        delimited=True,
        received_bytes=len(body),
        fetched_at=push.received_at,
        elapsed=timedelta(),
    )


def _by_feed(pushes: Sequence[StoredPush]) -> list[list[StoredPush]]:
    queues: dict[int, list[StoredPush]] = {}
    for push in pushes:
        queues.setdefault(push.subscription.feed_id, []).append(push)
    return list(queues.values())
