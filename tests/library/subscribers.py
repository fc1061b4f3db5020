"""Users and what they do with subscriptions."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from msgspec import structs
from sqlalchemy import select

from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.collect.refresh import RefreshWriters
from feedmill.library.filters.filter_new_entries import filter_writes
from feedmill.library.subscriptions import change_subscription as own
from feedmill.library.subscriptions.subscribe import SubscribeRequest, SubscribeResult, subscribe
from feedmill.model.feed import Feed
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS
from feedmill.model.subscription import Subscription
from feedmill.model.user import User
from feedmill.store.database import Step
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.schema import unread, users
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of
from feedmill.store.users.users import add_user
from tests.flows.refresh_environment import RefreshEnvironment

CHOSEN = ("title", "interval_seconds", "archive_policy")


@dataclass
class Subscribers:
    env: RefreshEnvironment
    answers: ResponseCache = field(default_factory=ResponseCache)

    async def person(self, name: str, quota_feeds: int | None = None) -> User:
        user = await add_user(self.env.db, name, None, False, self.env.now)
        changed = users.update().where(users.c.id == user.id).values(quota_feeds=quota_feeds)
        await self.env.db.batch([Step(changed)])
        return replace(user, quota_feeds=quota_feeds)

    async def subscribe(self, user: User, url: str, **wish: Any) -> SubscribeResult:
        chosen = {name: wish.pop(name) for name in CHOSEN if name in wish}
        settings = structs.replace(wish.pop("settings", DEFAULT_FEED_SETTINGS), **chosen)
        return await subscribe(self.env.tools, user, SubscribeRequest(url, settings, **wish), self.answers)

    async def change(self, user: User, subscription: Subscription, **chosen: Any) -> Subscription:
        rules = self.env.tools.rules
        return await own.update_subscription(
            self.env.db, rules, user.id, subscription.id, own.SubscriptionChange(chosen), self.env.now
        )

    async def settle(self, user: User, subscription: Subscription, **settings: Any) -> None:
        """Changes the per-feed settings of the subscription."""
        db, change = self.env.db, own.SubscriptionChange(settings)
        await own.update_subscription(db, self.env.tools.rules, user.id, subscription.id, change, self.env.now)

    def with_filters(self, clock: Callable[[], float] = time.monotonic) -> "Subscribers":
        """Applies the subscribers' filters in refreshes, as the app does; `clock` measures regular expressions."""
        writers = RefreshWriters(filters=partial(filter_writes, self.env.db, clock=clock))
        self.env.tools = replace(self.env.tools, writers=writers)
        return self

    async def leave(self, user: User, subscription: Subscription) -> None:
        await own.unsubscribe(self.env.db, user.id, subscription.id)

    async def mine(self, user: User) -> list[Subscription]:
        return await subscriptions_of(self.env.db, user.id)

    async def feed(self, subscription: Subscription) -> Feed:
        [feed] = await feeds_of_ids(self.env.db, [subscription.feed_id])
        return feed

    async def refresh(self, subscription: Subscription) -> None:
        await self.env.refresh(await self.feed(subscription))

    async def unread(self, user: User) -> int:
        """The number of rows in the user's list, independent of the counts."""
        lists = select(users.c.unread_list_id).where(users.c.id == user.id).scalar_subquery()
        return len(await self.env.db.query(select(unread).where(unread.c.list_id == lists)))

    async def unread_and_counted(self, user: User) -> tuple[int, int]:
        return await self.unread(user), sum(mine.unread_count for mine in await self.mine(user))
