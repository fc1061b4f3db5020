"""Tells a WebSub hub of new entries in output feeds: lease the feed → read it → tell the hub if it changed → settle.

The hub is told after the entries are stored, at least once. If the process dies, the lease ends and it is told again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from feedmill.encryption import Encryption, UnreadableSecret
from feedmill.engine.leased_tasks import run_leased_tasks
from feedmill.errors import CallerError
from feedmill.lazy_loggers import get_logger
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.output_feeds.addresses import OutputAddress, OutputFormat
from feedmill.library.output_feeds.manage_output_feeds import ENCRYPTION_PURPOSE
from feedmill.library.output_feeds.read_page import USUAL_ENTRIES, read_output_page
from feedmill.model.feed import Claim
from feedmill.model.fetch_outcome import Deferred, FetchOutcome, Refused, Response, Retryable
from feedmill.model.refresh import RefreshDecision, Updated
from feedmill.model.user import POOLS, READ, Caller
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.redirects import RequestPayload
from feedmill.store.database import Step
from feedmill.store.entries.fill_deferred_entries import fill_deferred
from feedmill.store.output_feeds.announcements import (
    Announcement,
    postpone_announcement,
    record_told,
    record_untold,
    release_announcements,
    step_to_queue_announcements,
    take_announcements,
)

log = get_logger(__name__)

AT_ONCE = 20
MAX_ATTEMPTS = 8
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=1)
LIMITS = FetchLimits(max_bytes=0, total=timedelta(seconds=20), read=timedelta(seconds=15))
FORM = "application/x-www-form-urlencoded"


@dataclass(slots=True)
class FeedAnnouncer:
    """Tells `hub_url` of changes; without a hub it does nothing. `site` is the address of this server."""

    tools: OutboundTools
    encryption: Encryption
    hub_url: str
    site: str

    async def announcement_writes(self, claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
        """The step that queues the output feeds that may list the new entries of a refresh."""
        has_news = isinstance(decision, Updated) and bool(decision.changes.new)
        return [step_to_queue_announcements(claim.feed.id)] if self.hub_url and has_news else ()

    async def announce(self) -> int:
        """Tells the hub of some of the feeds with changes; how many there were."""
        if not self.hub_url:
            return 0
        tools = self.tools
        token, due = await take_announcements(tools.db, tools.clock(), AT_ONCE)
        if not due:
            return 0

        async def release() -> None:
            await release_announcements(tools.db, token, tools.clock())

        await run_leased_tasks([self._announce(each) for each in due], tools.soft_limit, release)
        return len(due)

    async def _announce(self, due: Announcement) -> None:
        db, now = self.tools.db, self.tools.clock()
        digest = await self._digest(due, now)
        if digest is None or digest == due.announced_digest:
            await record_told(db, due, digest, now)
            return
        try:
            secret = self.encryption.decrypt(due.secret, ENCRYPTION_PURPOSE)
        except UnreadableSecret as error:
            await self._failed(due, str(error))
            return
        for format in OutputFormat:
            outcome = await self._tell(OutputAddress(self.site, secret, format).url)
            if isinstance(outcome, Deferred):
                await postpone_announcement(db, due, outcome.until)
                return
            if not isinstance(outcome, Response):
                await self._failed(due, _reason(outcome))
                return
        await record_told(db, due, digest, self.tools.clock())

    async def _digest(self, due: Announcement, now: datetime) -> str | None:
        """What the first page of the feed is like; None if nobody can read it now."""
        if not due.is_of_active_user:
            return None
        await fill_deferred(self.tools.db, due.user.id)
        owner = Caller(due.user, frozenset({READ, POOLS}))
        try:
            return (await read_output_page(self.tools.db, owner, due.feed, None, USUAL_ENTRIES, now)).digest
        except CallerError:
            return None

    async def _tell(self, topic: str) -> FetchOutcome:
        """Tells the hub that the document at the address has changed.

        The parameters are those that all hubs understand: `hub.url` of PubSubHubbub 0.4, `hub.topic` of WebSub.
        """
        form = urlencode({"hub.mode": "publish", "hub.url": topic, "hub.topic": topic})
        return await self.tools.client.post(self.hub_url, RequestPayload(form.encode(), FORM), LIMITS)

    async def _failed(self, due: Announcement, reason: str) -> None:
        attempts, now = due.attempts + 1, self.tools.clock()
        log.warning("hub_not_told", output_feed_id=due.feed.id, hub=self.hub_url, attempts=attempts, reason=reason)
        wait = min(FIRST_WAIT * 2 ** (attempts - 1), LONGEST_WAIT)
        await record_untold(self.tools.db, due, now + wait, gives_up=attempts >= MAX_ATTEMPTS)


def _reason(outcome: FetchOutcome) -> str:
    return str(outcome.detail) if isinstance(outcome, Retryable | Refused) else f"HTTP {outcome.status}"
