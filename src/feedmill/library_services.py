"""Builds the services of `library/` and their refresh writers; `lazy_services.py` imports it with their first use."""

from dataclasses import dataclass
from functools import partial

from feedmill.archive.images.download import ImageTools
from feedmill.collect.refresh import RefreshTools, RefreshWriters
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
from feedmill.outbound.apprise_messages import AppriseSender
from feedmill.outbound.client import Client
from feedmill.settings import Settings
from feedmill.store.database import Database


@dataclass(frozen=True, slots=True)
class LibraryServices:
    """The services of a process that users have besides refreshed feeds."""

    image_viewer: ImageViewer
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
    writers: RefreshWriters


def make_library_services(
    settings: Settings, tools: RefreshTools, images: ImageTools, task_client: Client, providers: tuple[Client, Client]
) -> LibraryServices:
    """The services. `providers` are the clients for identity providers: for issuers, and for what these name."""
    db, encryption, outbound_tools = tools.db, tools.encryption, OutboundTools(tools.db, task_client)
    webhooks = Webhooks(outbound_tools)
    apprise = AppriseSender.of(settings.allow_private)
    contact = settings.public_url or DEFAULT_CONTACT
    notifications = make_notifications(outbound_tools, encryption, apprise, tools.blobs, contact)
    announcer = FeedAnnouncer(outbound_tools, encryption, announcing_hub(settings), settings.public_url)
    return LibraryServices(
        ImageViewer(images),
        webhooks,
        Bookmarks(outbound_tools),
        FullTextFetcher(db, task_client),
        IconFetcher(db, task_client),
        make_save_services(outbound_tools, encryption),
        notifications,
        announcer,
        HubSubscriber(outbound_tools, hub_reachable_site(settings), settings.websub),
        PushUser(tools),
        make_single_sign_on(settings, db, ProviderRequests(*providers), encryption),
        RefreshWriters(
            webhooks=webhooks.webhook_writes,
            notifications=notifications.notification_writes,
            filters=partial(filter_writes, db, later_for=settings.later_for),
            stories=partial(story_writes, db),
            output_feeds=announcer.announcement_writes,
        ),
    )


def make_single_sign_on(
    settings: Settings, db: Database, requests: ProviderRequests, encryption: Encryption
) -> SingleSignOn:
    providers = {provider.id: provider for provider in settings.oidc}
    return SingleSignOn(providers, db, ProviderDirectory(requests), encryption)
