"""The user's categories and feeds in the shapes of the Miniflux API.

A feed has one category there: the first of its folders, or one that stands for feeds without a folder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from feedmill.app import App
from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.subscriptions.folders import (
    NO_FOLDER,
    folder_and_descendants,
    folder_paths,
    folders_of_user,
    no_folder_title,
)
from feedmill.library.subscriptions.lookup import subscriptions_of_user
from feedmill.model.entry_lists import EntryScope
from feedmill.model.subscription import Folder, Subscription
from feedmill.model.user import Caller
from feedmill.serve.miniflux.responses import rfc3339


@dataclass(frozen=True, slots=True)
class UserFeeds:
    """The feeds and categories of a user; `titles` has by category the path of its folder."""

    user_id: int
    subscriptions: Mapping[int, Subscription]
    folders: Sequence[Folder]
    titles: Mapping[int, str]

    def find_subscription(self, subscription_id: int) -> Subscription:
        found = self.subscriptions.get(subscription_id)
        if found is None:
            raise NotFound(Message("error.no_such_feed"))
        return found

    def check_category(self, category_id: int) -> None:
        if category_id not in self.titles:
            raise NotFound(Message("error.no_such_folder"))

    def in_category(self, category_id: int) -> list[Subscription]:
        """The feeds of a category and, as everywhere, of its subfolders."""
        self.check_category(category_id)
        if category_id == NO_FOLDER:
            return [each for each in self.subscriptions.values() if not each.folder_ids]
        within = folder_and_descendants(self.folders, category_id)
        return [each for each in self.subscriptions.values() if within.intersection(each.folder_ids)]

    def scope(self, subscription_id: int | None, category_id: int | None) -> EntryScope:
        if subscription_id is not None:
            return EntryScope((self.find_subscription(subscription_id).id,))
        if category_id is not None:
            return EntryScope(tuple(each.id for each in self.in_category(category_id)))
        return EntryScope()

    def category(self, category_id: int) -> dict[str, Any]:
        self.check_category(category_id)
        return {
            "id": category_id,
            "title": self.titles[category_id],
            "user_id": self.user_id,
            "hide_globally": False,
        }

    def feed(self, subscription: Subscription) -> dict[str, Any]:
        first = next((id for id in subscription.folder_ids if id in self.titles), NO_FOLDER)
        icon_id = subscription.id if subscription.icon else 0
        return {
            "id": subscription.id,
            "user_id": self.user_id,
            "feed_url": subscription.url,
            "site_url": subscription.site_url or subscription.url,
            "title": subscription.title,
            "description": "",
            "checked_at": rfc3339(subscription.last_fetched_at),
            "next_check_at": rfc3339(subscription.next_fetch_at),
            "etag_header": "",
            "last_modified_header": "",
            "parsing_error_message": str(subscription.last_error or ""),
            "parsing_error_count": subscription.consecutive_failures,
            "disabled": subscription.paused,
            **UNUSED_FEED_FIELDS,
            "category": self.category(first),
            "icon": {"feed_id": subscription.id, "icon_id": icon_id, "external_icon_id": subscription.icon or ""},
        }


UNUSED_FEED_FIELDS: dict[str, Any] = {
    "scraper_rules": "",
    "rewrite_rules": "",
    "blocklist_rules": "",
    "keeplist_rules": "",
    "block_filter_entry_rules": "",
    "keep_filter_entry_rules": "",
    "urlrewrite_rules": "",
    "user_agent": "",
    "cookie": "",
    "username": "",
    "password": "",
    "proxy_url": "",
    "crawler": False,
    "ignore_http_cache": False,
    "allow_self_signed_certificates": False,
    "fetch_via_proxy": False,
    "disable_http2": False,
    "hide_globally": False,
    "no_media_player": False,
    "apprise_service_urls": "",
    "webhook_url": "",
}
"""Members that clients read, for settings that Feedmill has not, or does not tell to apps."""


async def load_user_feeds(app: App, who: Caller) -> UserFeeds:
    subscriptions = await subscriptions_of_user(app.db, who.user.id)
    folders = await folders_of_user(app.db, who.user.id)
    titles = {NO_FOLDER: no_folder_title()} | {id: "/".join(path) for id, path in folder_paths(folders).items()}
    return UserFeeds(who.user.id, {each.id: each for each in subscriptions}, folders, titles)
