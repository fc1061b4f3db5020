"""Creates, changes and deletes a user's services, and saves articles to them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from feedmill.encryption import Encryption, UnreadableSecret
from feedmill.errors import BadInput, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.entries.list_entries import entry_summaries
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.services.send_saves import SaveSender
from feedmill.library.services.service_options import (
    NO_OPTIONS,
    ShownOptions,
    decrypt_options,
    encrypt_options,
    parse_options,
    show_options,
)
from feedmill.library.users.limits import check_count_limit
from feedmill.model.entry_marks import MAX_MARKED_AT_ONCE
from feedmill.model.services.save_service import MAX_NAME_LENGTH, SaveService, ServiceKind, ServiceOptions, ServiceSave
from feedmill.store.database import Database, Step
from feedmill.store.services.saves import (
    retry_failed_saves,
    saves_of_entry,
    saves_of_service,
    steps_to_queue_saves,
)
from feedmill.store.services.services import (
    StoredService,
    add_service,
    change_service,
    drop_service,
    service_of,
    services_of,
)

NO_SUCH_SERVICE = Message("error.no_such_service")


@dataclass(frozen=True, slots=True)
class QueuedSaves:
    """How many articles were queued, and for which services."""

    entries: int
    services: tuple[SaveService, ...]


@dataclass(frozen=True, slots=True)
class SaveServices:
    """What users do with their services. Options are encrypted, and their secrets are never shown."""

    tools: OutboundTools
    encryption: Encryption
    sender: SaveSender

    async def create(
        self, user_id: int, kind: ServiceKind, name: str, written: Mapping[str, str], *, by_key: bool = True
    ) -> SaveService:
        await check_count_limit(self._db, user_id, "services")
        stored = await self._stored(kind, name, parse_options(kind, written), by_key)
        return await add_service(self._db, user_id, stored, self._now)

    async def all(self, user_id: int) -> list[SaveService]:
        return await services_of(self._db, user_id)

    async def one(self, user_id: int, service_id: int) -> SaveService:
        """The user's service of that id; raises `NotFound`."""
        found = await service_of(self._db, user_id, service_id)
        if found is None:
            raise NotFound(NO_SUCH_SERVICE)
        return found

    async def change(
        self,
        user_id: int,
        service_id: int,
        name: str | None = None,
        written: Mapping[str, str] | None = None,
        by_key: bool | None = None,
    ) -> SaveService:
        """Changes a service. What waits for it is sent at once."""
        before = await self.one(user_id, service_id)
        options = await self._options(before)
        changed = await self._stored(
            before.kind,
            before.name if name is None else name,
            options if written is None else parse_options(before.kind, written, options),
            before.by_key if by_key is None else by_key,
        )
        if not await change_service(self._db, user_id, service_id, changed, self._now):
            raise NotFound(NO_SUCH_SERVICE)
        return await self.one(user_id, service_id)

    async def shown_options(self, service: SaveService) -> ShownOptions:
        """What is shown of its options; nothing if they can't be decrypted."""
        return show_options(service.kind, await self._options(service))

    async def delete(self, user_id: int, service_id: int) -> None:
        if not await drop_service(self._db, user_id, service_id):
            raise NotFound(NO_SUCH_SERVICE)

    async def save(self, user_id: int, entry_ids: Sequence[int], service_ids: Sequence[int] | None) -> QueuedSaves:
        """Queues articles for these services; None stands for those of the keyboard shortcut.

        Articles that the user may not see are left out. What a service has already is not sent again.
        """
        if len(entry_ids) > MAX_MARKED_AT_ONCE:
            raise BadInput(Message("error.too_many_changed", most=MAX_MARKED_AT_ONCE))
        every = await self.all(user_id)
        wanted = [each for each in every if each.by_key] if service_ids is None else _chosen(every, service_ids)
        visible = [entry.id for entry in await entry_summaries(self._db, user_id, list(dict.fromkeys(entry_ids)))]
        steps = [step for each in wanted for step in steps_to_queue_saves(each.id, visible, self._now)]
        if visible and steps:
            await self._db.batch(steps)
        return QueuedSaves(len(visible), tuple(wanted))

    def save_steps(self, service_id: int, entry_ids: Sequence[int]) -> list[Step]:
        """The steps that queue entries for a service, for a batch of the caller, who has checked the rights."""
        return steps_to_queue_saves(service_id, entry_ids, self._now)

    async def saves(self, user_id: int, service_id: int, before: int, most: int) -> list[ServiceSave]:
        """What was saved to the service, the latest first."""
        return await saves_of_service(self._db, (await self.one(user_id, service_id)).id, before, most)

    async def saves_of_entry(self, user_id: int, entry_id: int) -> list[ServiceSave]:
        return await saves_of_entry(self._db, user_id, entry_id)

    async def retry(self, user_id: int, service_id: int) -> int:
        """Queues what failed again; how many there were."""
        return await retry_failed_saves(self._db, (await self.one(user_id, service_id)).id, self._now)

    async def send(self) -> int:
        """Sends a chunk of due saves; how many there were."""
        return await self.sender.send_due()

    async def _stored(self, kind: ServiceKind, name: str, options: ServiceOptions, by_key: bool) -> StoredService:
        encrypted = await asyncio.to_thread(encrypt_options, self.encryption, options)
        return StoredService(kind, _checked_name(name), encrypted, by_key)

    async def _options(self, service: SaveService) -> ServiceOptions:
        try:
            return await asyncio.to_thread(decrypt_options, self.encryption, service.options)
        except UnreadableSecret:
            return NO_OPTIONS

    @property
    def _db(self) -> Database:
        return self.tools.db

    @property
    def _now(self) -> datetime:
        return self.tools.clock()


def make_save_services(tools: OutboundTools, encryption: Encryption) -> SaveServices:
    return SaveServices(tools, encryption, SaveSender(tools, encryption))


def _checked_name(text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise BadInput(Message("service.bad_name", n=MAX_NAME_LENGTH), "name")
    return name


def _chosen(every: Sequence[SaveService], ids: Sequence[int]) -> list[SaveService]:
    by_id = {each.id: each for each in every}
    if not all(id in by_id for id in ids):
        raise NotFound(NO_SUCH_SERVICE)
    return [by_id[id] for id in dict.fromkeys(ids)]
