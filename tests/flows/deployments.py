"""The deployments that Feedmill supports: one machine, servers, Cloudflare, and MySQL."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from feedmill.archive.blobs import Blobs
from feedmill.archive.files import FolderBlobs
from feedmill.archive.object_keys import IMAGES_PREFIX, RAW_BODIES_PREFIX
from feedmill.archive.purge import PurgeCounts, RetentionPeriods, purge
from feedmill.archive.s3 import S3Blobs
from feedmill.collect.restore import RestoreReport, preview_restore, restore_feeds
from feedmill.collect.restore_bodies import Period
from feedmill.collect.restore_plan import find_descriptors, plan_from_index, plan_from_store, preview_from_store
from feedmill.model.feed import Feed
from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import FetchOutcome, Response, Validators
from feedmill.model.timestamps import to_iso
from feedmill.outbound.client import DEFAULT_OPTIONS, Client
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.schema import instance_state, subscriptions, unread, users
from tests.databases import emptied
from tests.flows.conftest import open_environment
from tests.flows.refresh_environment import MINUTE, RefreshEnvironment
from tests.services.s3 import s3_config

DEPLOYMENTS = {
    "one machine": ("sqlite", "folder"),
    "servers": ("postgresql", "s3"),
    "cloudflare": ("d1", "s3"),
    "mysql": ("mariadb", "folder"),
}
DEFAULT_PERIODS = RetentionPeriods()
# A response arrives a little before it is recorded.
ARRIVES_BEFORE = timedelta(milliseconds=5)


@dataclass(frozen=True)
class TimedClient:
    """A client whose responses have the time of the test's clock."""

    client: Client
    env: RefreshEnvironment

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: FetchLimits | None = None,
        options: FetchOptions = DEFAULT_OPTIONS,
    ) -> FetchOutcome:
        outcome = await self.client.get(url, validators, limits, options)
        at = self.env.now - ARRIVES_BEFORE
        return replace(outcome, fetched_at=at) if isinstance(outcome, Response) else outcome


class ArchiveEnvironment(RefreshEnvironment):
    """An environment whose raw bodies have the test's time, with methods for purging and restoring."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tools = replace(self.tools, client=TimedClient(self.client, self))

    async def purge(self, keeping: RetentionPeriods = DEFAULT_PERIODS) -> PurgeCounts:
        return await purge(self.db, self.blobs, keeping, self.now)

    async def restore(self, *feeds: Feed, period: Period = Period()) -> RestoreReport:  # noqa: B008
        chosen = [feed.id for feed in feeds] or None
        return await restore_feeds(self.tools, plan_from_index(self.db, chosen, period), lambda one: None)

    async def preview(self, period: Period = Period()) -> RestoreReport:  # noqa: B008
        return await preview_restore(self.tools, plan_from_index(self.db, None, period), lambda one: None)

    async def rebuild(self) -> RestoreReport:
        cards, _ = await find_descriptors(self.blobs)
        plans = plan_from_store(self.db, self.blobs, cards, Period(), self.now)
        return await restore_feeds(self.tools, plans, lambda one: None)

    async def preview_rebuild(self) -> RestoreReport:
        cards, _ = await find_descriptors(self.blobs)
        plans = preview_from_store(self.db, self.blobs, cards, Period(), self.now)
        return await preview_restore(self.tools, plans, lambda one: None)

    async def set_unread_list(self, user_id: int, list_id: int) -> None:
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
                "sort_at": to_iso(self.now + number // 700 * MINUTE),
                "entry_id": number,
                "subscription_id": 1,
            }
            for number in range(size)
        ]
        await self.db.batch([Step(insert(unread, *rows[0]), rows)])

    async def forget_facts(self) -> None:
        await self.db.batch([Step(instance_state.delete())])

    async def keys(self, prefix: str = "") -> list[str]:
        return sorted([blob.key async for blob in self.blobs.list_keys(prefix)])

    async def archived_keys(self) -> list[str]:
        """The keys of images and raw bodies; descriptors and the owner's mark are never purged."""
        return sorted([*await self.keys(IMAGES_PREFIX), *await self.keys(RAW_BODIES_PREFIX)])


@asynccontextmanager
async def open_deployment(
    request: pytest.FixtureRequest, place: str, folder: Path
) -> AsyncIterator[ArchiveEnvironment]:
    """An empty environment on one of the deployments."""
    database, objects = DEPLOYMENTS[place]
    async with emptied(request, database, folder) as db, open_environment(db, folder) as small:
        yield ArchiveEnvironment(db, open_objects(request, objects, folder), small.client, small.web)


def open_objects(request: pytest.FixtureRequest, kind: str, folder: Path) -> Blobs:
    if kind == "folder":
        return FolderBlobs(folder / "objects")
    return S3Blobs(s3_config(request.getfixturevalue("s3_service"), prefix=f"flows/{uuid4().hex}"))
