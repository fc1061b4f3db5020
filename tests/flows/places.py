"""The places that Feedmill is run in: one machine, servers, Cloudflare, and MySQL."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from feedmill.archive.blobs import Blobs
from feedmill.archive.files import FolderBlobs
from feedmill.archive.retention import Keeping, Purged, purge
from feedmill.archive.s3 import S3Blobs
from feedmill.collect.backups import Period
from feedmill.collect.restore import Restored, imagine, restore
from feedmill.collect.restore_plan import imagine_from_store, plan_from_index, plan_from_store
from feedmill.model.feed import Feed
from feedmill.model.outcome import Outcome, Response, Validators
from feedmill.model.times import to_text
from feedmill.outbound.client import NO_OPTIONS, Client
from feedmill.outbound.options import FetchOptions, Limits
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.schema import facts, subscriptions, unread, users
from tests.databases import emptied
from tests.flows.conftest import small_world
from tests.flows.world import MINUTE, World
from tests.services.s3 import s3_config

PLACES = {
    "one machine": ("sqlite", "folder"),
    "servers": ("postgresql", "s3"),
    "cloudflare": ("d1", "s3"),
    "mysql": ("mariadb", "folder"),
}
KEEPING = Keeping()
# An answer arrives a little before it is written down.
ARRIVES_BEFORE = timedelta(milliseconds=5)


@dataclass(frozen=True)
class TimedWeb:
    """The web by the clock of the test's world."""

    client: Client
    world: World

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: Limits | None = None,
        options: FetchOptions = NO_OPTIONS,
    ) -> Outcome:
        outcome = await self.client.get(url, validators, limits, options)
        at = self.world.now - ARRIVES_BEFORE
        return replace(outcome, fetched_at=at) if isinstance(outcome, Response) else outcome


class ArchiveWorld(World):
    """A world whose raw bodies bear its own time, with short words for purging and restoring."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tools = replace(self.tools, client=TimedWeb(self.client, self))

    async def purge(self, keeping: Keeping = KEEPING) -> Purged:
        return await purge(self.db, self.blobs, keeping, self.now)

    async def restore(self, *feeds: Feed, period: Period = Period()) -> Restored:  # noqa: B008
        chosen = [feed.id for feed in feeds] or None
        return await restore(self.tools, plan_from_index(self.db, chosen, period), lambda one: None)

    async def imagine(self, period: Period = Period()) -> Restored:  # noqa: B008
        return await imagine(self.tools, plan_from_index(self.db, None, period), lambda one: None)

    async def rebuild(self) -> Restored:
        plans = plan_from_store(self.db, self.blobs, Period(), self.now)
        return await restore(self.tools, plans, lambda one: None)

    async def imagine_rebuild(self) -> Restored:
        plans = imagine_from_store(self.db, self.blobs, Period(), self.now)
        return await imagine(self.tools, plans, lambda one: None)

    async def point_to(self, user_id: int, list_id: int) -> None:
        await self.db.batch([Step(users.update().where(users.c.id == user_id).values(unread_list_id=list_id))])

    async def read(self, list_id: int, entry_id: int) -> None:
        """Marks an entry read, as the user whose list it is does."""
        [row] = await self.rows(unread, list_id=list_id, entry_id=entry_id)
        mine = subscriptions.c.id == row["subscription_id"]
        count = subscriptions.update().where(mine).values(unread_count=subscriptions.c.unread_count - 1)
        gone = unread.delete().where(unread.c.list_id == list_id, unread.c.entry_id == entry_id)
        await self.db.batch([Step(count), Step(gone)])

    async def fill_list(self, list_id: int, size: int) -> None:
        """An unread list of so many entries, all of the same moment or of a few."""
        rows = [
            {
                "list_id": list_id,
                "sort_at": to_text(self.now + number // 700 * MINUTE),
                "entry_id": number,
                "subscription_id": 1,
            }
            for number in range(size)
        ]
        await self.db.batch([Step(insert(unread, *rows[0]), rows)])

    async def forget_facts(self) -> None:
        await self.db.batch([Step(facts.delete())])

    async def keys(self, prefix: str = "") -> list[str]:
        return sorted([blob.key async for blob in self.blobs.list_keys(prefix)])


@asynccontextmanager
async def world_at(request: pytest.FixtureRequest, place: str, folder: Path) -> AsyncIterator[ArchiveWorld]:
    """An empty world at one of the places."""
    database, objects = PLACES[place]
    async with emptied(request, database, folder) as db, small_world(db, folder) as small:
        yield ArchiveWorld(db, open_objects(request, objects, folder), small.client, small.web)


def open_objects(request: pytest.FixtureRequest, kind: str, folder: Path) -> Blobs:
    if kind == "folder":
        return FolderBlobs(folder / "objects")
    return S3Blobs(s3_config(request.getfixturevalue("s3_service"), prefix=f"flows/{uuid4().hex}"))
