"""The wiring: builds the database, stores, clients and services that a process needs."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from feedmill import __version__
from feedmill.adapters.coordination import connect_coordination
from feedmill.adapters.database import open_migrated_database
from feedmill.adapters.object_store import open_blobs
from feedmill.archive.blobs import Blobs
from feedmill.archive.images.download import ImageTools
from feedmill.archive.images.storage_limit import ImageStorageLimit
from feedmill.collect.refresh import RefreshTools
from feedmill.collect.scheduling.cadence import CadenceSettings
from feedmill.coordination.coordination import Coordination
from feedmill.coordination.memory import MemoryHostSlots
from feedmill.encryption import Encryption
from feedmill.lazy_services import LazyServices, lazy_writers
from feedmill.open_pools import open_pools
from feedmill.optional_imports import check_installed
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.blocked_hosts import BlockedHosts, HostBlocklist
from feedmill.outbound.client import Client
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.host_pacing import Pacer
from feedmill.pools.service import PoolService
from feedmill.settings import Settings
from feedmill.store.database import Database

if TYPE_CHECKING:
    from feedmill.library.archive.view_images import ImageViewer
    from feedmill.library.bookmarks.service import Bookmarks
    from feedmill.library.entries.fetch_full_texts import FullTextFetcher
    from feedmill.library.feeds.fetch_icons import IconFetcher
    from feedmill.library.hubs.subscribe_feeds import HubSubscriber
    from feedmill.library.hubs.use_pushes import PushUser
    from feedmill.library.notifications.service import Notifications
    from feedmill.library.output_feeds.announce import FeedAnnouncer
    from feedmill.library.services.service import SaveServices
    from feedmill.library.users.oidc.code_flow import SingleSignOn
    from feedmill.library.webhooks.service import Webhooks

USER_AGENT = f"Feedmill/{__version__} (+https://github.com/feedmill/feedmill)"
OUTBOUND_TASKS_AT_ONCE = 5
# For the servers of identity providers, which the operator names one by one.
EVERY_NETWORK = ("0.0.0.0/0", "::/0")


@dataclass(frozen=True, slots=True)
class App:
    """All services of a process, built from the settings; those of `library/` are made when they are first used."""

    settings: Settings
    db: Database
    blobs: Blobs
    client: Client
    blocks: BlockedHosts
    tools: RefreshTools
    images: ImageTools
    pools: PoolService
    coordination: Coordination
    lazy_services: LazyServices

    @property
    def image_viewer(self) -> "ImageViewer":
        return self.lazy_services.made.image_viewer

    @property
    def webhooks(self) -> "Webhooks":
        return self.lazy_services.made.webhooks

    @property
    def bookmarks(self) -> "Bookmarks":
        return self.lazy_services.made.bookmarks

    @property
    def full_texts(self) -> "FullTextFetcher":
        return self.lazy_services.made.full_texts

    @property
    def icons(self) -> "IconFetcher":
        return self.lazy_services.made.icons

    @property
    def services(self) -> "SaveServices":
        return self.lazy_services.made.services

    @property
    def notifications(self) -> "Notifications":
        return self.lazy_services.made.notifications

    @property
    def announcer(self) -> "FeedAnnouncer":
        return self.lazy_services.made.announcer

    @property
    def hub_subscriber(self) -> "HubSubscriber":
        return self.lazy_services.made.hub_subscriber

    @property
    def push_user(self) -> "PushUser":
        return self.lazy_services.made.push_user

    @property
    def single_sign_on(self) -> "SingleSignOn":
        return self.lazy_services.made.single_sign_on


@asynccontextmanager
async def build_app(settings: Settings) -> AsyncIterator[App]:
    """Opens everything, migrates the database, and closes everything at the end."""
    if settings.oidc:
        check_installed("authlib")
    blobs = open_blobs(settings)
    async with open_migrated_database(settings) as db:
        blocks = BlockedHosts(db)
        async with (
            connect_coordination(settings) as coordination,
            open_client(settings, pacer := _pacer(settings, coordination), blocks) as client,
            open_image_client(settings, pacer, blocks) as image_client,
            open_outbound_task_client(settings, pacer, blocks) as task_client,
            open_pools(settings, db) as pools,
            open_provider_clients(settings) as providers,
            aclosing(LazyServices(lambda: (settings, tools, images, task_client, providers))) as services,
        ):
            writers = lazy_writers(services, pools.gatherer.pool_writes)
            encryption = Encryption.of(settings)
            rules, later_for = backoff_rules(settings), settings.later_for
            tools = RefreshTools(db, blobs, client, rules, encryption=encryption, writers=writers, later_for=later_for)
            images = _image_tools(settings, tools, image_client)
            yield App(settings, db, blobs, client, blocks, tools, images, pools, coordination, services)


def _image_tools(settings: Settings, tools: RefreshTools, client: Client) -> ImageTools:
    return ImageTools(
        tools.db,
        tools.blobs,
        client,
        tools.outage,
        ImageStorageLimit(tools.db, settings.images_total_bytes),
        settings.images_at_once,
        timedelta(seconds=settings.host_gap),
        encryption=tools.encryption,
    )


@asynccontextmanager
async def open_provider_clients(settings: Settings) -> AsyncIterator[tuple[Client, Client]]:
    """The clients for identity providers: for issuers, and for the addresses that these name.

    They are not paced like sites that are collected from, because somebody waits.
    """
    pacer = Pacer(MemoryHostSlots(), timedelta(0))
    user_agent = settings.user_agent or USER_AGENT
    async with (
        Client(pacer, AddressPolicy(EVERY_NETWORK), user_agent) as issuers,
        Client(pacer, AddressPolicy(settings.allow_private), user_agent) as others,
    ):
        yield issuers, others


def _pacer(settings: Settings, coordination: Coordination) -> Pacer:
    return Pacer(coordination.host_slots, timedelta(seconds=settings.host_gap))


def open_client(settings: Settings, pacer: Pacer, blocks: HostBlocklist) -> Client:
    return _client(settings, pacer, blocks, settings.max_feed_bytes, settings.fetches_at_once)


def open_image_client(settings: Settings, pacer: Pacer, blocks: HostBlocklist) -> Client:
    """A separate client, so that images take no slots from feeds; both share the pacing per host."""
    return _client(settings, pacer, blocks, settings.max_image_bytes, settings.images_at_once)


def open_outbound_task_client(settings: Settings, pacer: Pacer, blocks: HostBlocklist) -> Client:
    """A client for webhooks, services, pages and icons: slow ones delay neither feeds nor images."""
    return _client(settings, pacer, blocks, settings.max_feed_bytes, OUTBOUND_TASKS_AT_ONCE)


def _client(settings: Settings, pacer: Pacer, blocks: HostBlocklist, max_bytes: int, at_once: int) -> Client:
    limits = FetchLimits(
        max_bytes=max_bytes,
        connect=timedelta(seconds=settings.connect_seconds),
        read=timedelta(seconds=settings.read_seconds),
        total=timedelta(seconds=settings.total_seconds),
    )
    user_agent = settings.user_agent or USER_AGENT
    policy = AddressPolicy(settings.allow_private, settings.own_servers)
    return Client(pacer, policy, user_agent, limits, at_once, blocklist=blocks)


def backoff_rules(settings: Settings) -> CadenceSettings:
    return CadenceSettings(timedelta(minutes=settings.backoff_base), timedelta(minutes=settings.backoff_cap))
