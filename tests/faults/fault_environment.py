"""What a fault test runs on: a feed server, a database, Feedmill processes, and Alice, who reads."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import bindparam, func, or_, select, update

from feedmill.errors import DatabaseError
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert, one_of
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.schema import batch_jobs, batches, entries, feeds, states, subscriptions, unread, users
from tests.faults.feed_server import FeedServer
from tests.faults.process_main import ProcessPlan
from tests.faults.processes import FeedmillProcess, FeedmillProcesses
from tests.waiting import until

UNREAD_LIST = 7

MAKE_DUE = update(feeds).where(one_of(feeds.c.url, "urls")).values(next_fetch_at=bindparam("at"))
# A feed that could not be stored is tried again a little later.
_is_put_off = feeds.c.next_fetch_why.contains("job.own_failure")
UNDONE = (
    select(func.count().label("undone"))
    .select_from(feeds)
    .where(or_(feeds.c.next_fetch_at <= bindparam("now"), feeds.c.claim_token.is_not(None), _is_put_off))
)
CLAIMED = select(feeds.c.id, feeds.c.claimed_until).where(feeds.c.claim_token.is_not(None))
END_CLAIMS = update(feeds).where(feeds.c.claim_token.is_not(None)).values(claimed_until=bindparam("now"))
ABANDON = update(batches).values(heartbeat_at=bindparam("at"))
ALICE = insert(users, "id", "name", "unread_list_id", "created_at")
SUBSCRIBE = insert(subscriptions, "user_id", "feed_id", "created_at")
SOME_UNREAD = (
    select(unread.c.entry_id, unread.c.subscription_id)
    .join(entries, entries.c.id == unread.c.entry_id)
    .order_by(unread.c.entry_id)
    .limit(bindparam("most"))
)
FORGET = unread.delete().where(unread.c.entry_id == bindparam("entry"))
COUNT_DOWN = (
    update(subscriptions)
    .where(subscriptions.c.id == bindparam("subscription"))
    .values(unread_count=subscriptions.c.unread_count - 1)
)
KEEP_STATE = insert(states, "user_id", "entry_id", "read_at", "starred_at")


def fault_settings(database: dict[str, str], data: Path, objects: Path) -> dict[str, str]:
    """Settings without pauses between requests to the feed server."""
    places = {"data": str(data), "objects": str(objects)}
    return database | places | {"allow_private": "127.0.0.0/8", "host_gap": "0"}


@dataclass
class FaultEnvironment:
    feed_server: FeedServer
    db: Database
    processes: FeedmillProcesses
    folder: Path
    settings: dict[str, str]

    @property
    def objects(self) -> Path:
        return Path(self.settings["objects"])

    def plan(self, **options: Any) -> ProcessPlan:
        return ProcessPlan(self.settings, **options)

    async def start(self, **options: Any) -> FeedmillProcess:
        return await self.processes.start(self.plan(**options))

    async def subscribe_alice(self) -> None:
        """Subscribes Alice to every feed of the server; none is due."""
        at = datetime.now(UTC)
        made = [await add_feed(self.db, url, at + timedelta(hours=1)) for url in self.feed_server.urls]
        await self.db.batch(
            [
                Step(ALICE, {"id": 1, "name": "alice", "unread_list_id": UNREAD_LIST, "created_at": to_iso(at)}),
                Step(SUBSCRIBE, [{"user_id": 1, "feed_id": feed.id, "created_at": to_iso(at)} for feed in made]),
            ]
        )

    async def read_some(self, most: int = 20) -> None:
        """Alice reads the oldest entries and stars every other one."""
        found = await self.db.query(SOME_UNREAD, {"most": most})
        at = to_iso(datetime.now(UTC))
        kept = [
            {"user_id": 1, "entry_id": row["entry_id"], "read_at": at, "starred_at": at if number % 2 else None}
            for number, row in enumerate(found)
        ]
        await self.db.batch(
            [
                Step(KEEP_STATE, kept),
                Step(FORGET, [{"entry": row["entry_id"]} for row in found]),
                Step(COUNT_DOWN, [{"subscription": row["subscription_id"]} for row in found]),
            ]
        )

    async def make_due(self, paths: list[str] | None = None, after: float = 0) -> None:
        urls = [self.feed_server.web.url(path) for path in paths or self.feed_server.paths]
        at = to_iso(datetime.now(UTC) + timedelta(seconds=after))
        await self.db.batch([Step(MAKE_DUE, {"urls": as_list(urls), "at": at})])

    async def feeds(self) -> list[Row]:
        return await self.db.query(select(feeds).order_by(feeds.c.id))

    async def batches(self) -> list[Row]:
        return await self.db.query(select(batches).order_by(batches.c.id))

    async def batch_jobs(self) -> list[Row]:
        return await self.db.query(select(batch_jobs).order_by(batch_jobs.c.batch_id, batch_jobs.c.feed_id))

    async def until_batches_end(self) -> None:
        async def have_ended() -> bool:
            return {row["status"] for row in await self.batches()} in ({"done"}, {"cancelled"})

        await until(have_ended, otherwise="a batch has not ended")

    async def claims(self) -> list[Row]:
        return await self.db.query(CLAIMED)

    async def end_claims(self) -> None:
        """As if every lease had ended."""
        await self.db.batch([Step(END_CLAIMS, {"now": to_iso(datetime.now(UTC))})])

    async def abandon_batches(self) -> None:
        """As if nobody had been heard of for an hour: every lease has ended, and every batch is abandoned."""
        await self.end_claims()
        await self.db.batch([Step(ABANDON, {"at": to_iso(datetime.now(UTC) - timedelta(hours=1))})])

    async def until_done(self, seconds: float = 60) -> None:
        """Waits until no feed is due, claimed or put off by a fault."""
        await until(self.is_done, seconds, "feeds are still due or claimed")

    async def full_cycle(self, seconds: float = 60) -> None:
        """Refreshes every feed once, in an undisturbed process."""
        await self.make_due()
        process = await self.start()
        await self.until_done(seconds)
        assert await process.stop() == 0, process.logged_text()

    async def is_done(self) -> bool:
        try:
            [row] = await self.db.query(UNDONE, {"now": to_iso(datetime.now(UTC))})
        except DatabaseError:
            return False
        return row["undone"] == 0
