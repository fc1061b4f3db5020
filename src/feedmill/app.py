"""The wiring: builds the database, stores, clients and services that a process needs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from feedmill import __version__
from feedmill.adapters.coordination import connect_coordination
from feedmill.adapters.database import open_migrated_database
from feedmill.adapters.object_store import open_blobs
from feedmill.archive.blobs import Blobs
from feedmill.archive.images.download import ImageTools
from feedmill.archive.images.storage_limit import ImageStorageLimit
from feedmill.collect.refresh import RefreshTools, RefreshWriters
from feedmill.collect.scheduling.cadence import CadenceSettings
from feedmill.coordination.coordination import Coordination
from feedmill.coordination.memory import MemoryHostSlots
from feedmill.encryption import Encryption
from feedmill.library.archive.view_images import ImageViewer
from feedmill.library.bookmarks.service import Bookmarks
from feedmill.library.entries.fetch_full_texts import FullTextFetcher
from feedmill.library.feeds.fetch_icons import IconFetcher
from feedmill.library.filters.filter_new_entries import filter_writes
from feedmill.library.hubs.callbacks import hub_reachable_site
from feedmill.library.hubs.subscribe_feeds import HubSubscriber
from feedmill.library.hubs.use_pushes import PushUser
from feedmill.library.notifications.service import DEFAULT_CONTACT, Notifications, make_notifications
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.output_feeds.addresses import announcing_hub
from feedmill.library.output_feeds.announce import FeedAnnouncer
from feedmill.library.services.service import SaveServices, make_save_services
from feedmill.library.stories.join_new_entries import story_writes
from feedmill.library.users.oidc.code_flow import SingleSignOn
from feedmill.library.users.oidc.provider_metadata import ProviderDirectory
from feedmill.library.users.oidc.provider_requests import ProviderRequests
from feedmill.library.webhooks.service import Webhooks
from feedmill.open_pools import open_pools
from feedmill.optional_imports import check_installed
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.apprise_messages import AppriseSender
from feedmill.outbound.blocked_hosts import BlockedHosts, HostBlocklist
from feedmill.outbound.client import Client
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.host_pacing import Pacer
from feedmill.pools.service import PoolService
from feedmill.settings import Settings
from feedmill.store.database import Database

USER_AGENT = f"Feedmill/{__version__} (+https://github.com/feedmill/feedmill)"
OUTBOUND_TASKS_AT_ONCE = 5
# For the servers of identity providers, which the operator names one by one.
EVERY_NETWORK = ("0.0.0.0/0", "::/0")


@dataclass(frozen=True, slots=True)
class App:
    """All services of a process, built from the settings."""

    settings: Settings
    db: Database
    blobs: Blobs
    client: Client
    blocks: BlockedHosts
    tools: RefreshTools
    images: ImageTools
    image_viewer: ImageViewer
    pools: PoolService
    coordination: Coordination
    webhooks: Webhooks
    bookmarks: Bookmarks
    full_texts: FullTextFetcher
    icons: IconFetcher
    services: SaveServices
    notifications: Notifications
    announcer: FeedAnnouncer
    hub_subscriber: HubSubscriber
    push_user: PushUser
    single_sign_on: SingleSignOn


@asynccontextmanager
async def build_app(settings: Settings) -> AsyncIterator[App]:
    """Opens everything, migrates the database, and closes everything at the end."""
    blobs = open_blobs(settings)
    async with open_migrated_database(settings) as db:
        blocks = BlockedHosts(db)
        async with (
            connect_coordination(settings) as coordination,
            open_client(settings, pacer := _pacer(settings, coordination), blocks) as client,
            open_image_client(settings, pacer, blocks) as image_client,
            open_outbound_task_client(settings, pacer, blocks) as task_client,
            open_pools(settings, db) as pools,
            open_provider_requests(settings) as provider_requests,
        ):
            outbound_tools = OutboundTools(db, task_client)
            webhooks, bookmarks = Webhooks(outbound_tools), Bookmarks(outbound_tools)
            encryption = Encryption.of(settings)
            apprise = AppriseSender.of(settings.allow_private)
            contact = settings.public_url or DEFAULT_CONTACT
            notifications = make_notifications(outbound_tools, encryption, apprise, blobs, contact)
            announcer = make_announcer(settings, outbound_tools, encryption)
            writers = RefreshWriters(
                pools=pools.gatherer.pool_writes,
                webhooks=webhooks.webhook_writes,
                notifications=notifications.notification_writes,
                filters=partial(filter_writes, db, later_for=settings.later_for),
                stories=partial(story_writes, db),
                output_feeds=announcer.announcement_writes,
            )
            tools = RefreshTools(db, blobs, client, backoff_rules(settings), encryption=encryption, writers=writers)
            images = _image_tools(settings, tools, image_client)
            full_texts, icons = FullTextFetcher(db, task_client), IconFetcher(db, task_client)
            async with ImageViewer(images) as image_viewer:
                yield App(
                    settings,
                    db,
                    blobs,
                    client,
                    blocks,
                    tools,
                    images,
                    image_viewer,
                    pools,
                    coordination,
                    webhooks,
                    bookmarks,
                    full_texts,
                    icons,
                    make_save_services(outbound_tools, encryption),
                    notifications,
                    announcer,
                    HubSubscriber(outbound_tools, hub_reachable_site(settings), settings.websub),
                    PushUser(tools),
                    make_single_sign_on(settings, db, provider_requests, encryption),
                )


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
async def open_provider_requests(settings: Settings) -> AsyncIterator[ProviderRequests]:
    """The clients for identity providers: not paced like sites that are collected from, because somebody waits."""
    pacer = Pacer(MemoryHostSlots(), timedelta(0))
    user_agent = settings.user_agent or USER_AGENT
    async with (
        Client(pacer, AddressPolicy(EVERY_NETWORK), user_agent) as issuers,
        Client(pacer, AddressPolicy(settings.allow_private), user_agent) as others,
    ):
        yield ProviderRequests(issuers, others)


def make_single_sign_on(
    settings: Settings, db: Database, requests: ProviderRequests, encryption: Encryption
) -> SingleSignOn:
    if settings.oidc:
        check_installed("authlib")
    providers = {provider.id: provider for provider in settings.oidc}
    return SingleSignOn(providers, db, ProviderDirectory(requests), encryption)


def make_announcer(settings: Settings, tools: OutboundTools, encryption: Encryption) -> FeedAnnouncer:
    return FeedAnnouncer(tools, encryption, announcing_hub(settings), settings.public_url)


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
