"""The services of `library/`, imported with their first use: a refresh of feeds without news uses none of them."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from feedmill.collect.refresh import RefreshWriter, RefreshWriters
from feedmill.model.feed import Claim, FeedStatus
from feedmill.model.refresh import Postponed, RefreshDecision, Unchanged
from feedmill.optional_imports import import_by_name
from feedmill.store.database import Step

if TYPE_CHECKING:
    from feedmill.library_services import LibraryServices

MAKE_SERVICES = "feedmill.library_services:make_library_services"


class LazyServices:
    """Makes the services when one of them is first used, from what `arguments` returns then."""

    def __init__(self, arguments: Callable[[], tuple[Any, ...]]) -> None:
        self._arguments = arguments

    @cached_property
    def made(self) -> "LibraryServices":
        services: LibraryServices = import_by_name(MAKE_SERVICES)(*self._arguments())
        return services

    @property
    def are_made(self) -> bool:
        return "made" in vars(self)

    async def load(self) -> "LibraryServices":
        """The services; imports them in a thread, because that takes a while and would block the event loop."""
        if not self.are_made:
            await asyncio.to_thread(import_by_name, MAKE_SERVICES)
        return self.made

    async def aclose(self) -> None:
        """Cancels what the services still do."""
        if self.are_made:
            await self.made.image_viewer.aclose()


@dataclass(frozen=True, slots=True)
class LazyWriter:
    """A refresh writer of the services. Decisions that concern none of them import nothing."""

    services: LazyServices
    find: Callable[[RefreshWriters], RefreshWriter]

    async def __call__(self, claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
        if not is_news(claim, decision):
            return ()
        return await self.find((await self.services.load()).writers)(claim, decision)


def is_news(claim: Claim, decision: RefreshDecision) -> bool:
    """Whether there may be new entries, or an event: a healthy feed that did not change has neither."""
    return not isinstance(decision, Unchanged | Postponed) or claim.feed.status is not FeedStatus.ACTIVE


def lazy_writers(services: LazyServices, pools: RefreshWriter) -> RefreshWriters:
    """The writers of pools and of the services."""
    return RefreshWriters(
        pools=pools,
        webhooks=LazyWriter(services, lambda writers: writers.webhooks),
        notifications=LazyWriter(services, lambda writers: writers.notifications),
        filters=LazyWriter(services, lambda writers: writers.filters),
        stories=LazyWriter(services, lambda writers: writers.stories),
        output_feeds=LazyWriter(services, lambda writers: writers.output_feeds),
    )
