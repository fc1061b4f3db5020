"""Filters act on what becomes unread with a subscription to a feed that others read already."""

from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

from feedmill.library.entries.marks import apply_marks
from feedmill.library.filters.effects import effects_of_entries
from feedmill.library.filters.filter_jobs import revert_filter
from feedmill.library.filters.manage_filters import create_filter, find_filter
from feedmill.library.filters.mutes import follow, mute
from feedmill.library.filters.work_on_jobs import FilterJobWorker
from feedmill.library.subscriptions.folders import ensure_folders
from feedmill.library.subscriptions.import_opml import plan_import, run_import
from feedmill.library.subscriptions.opml import OpmlFeed, write_opml
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.filters.entry_filter import (
    EntryFilter,
    FilterAction,
    FilterActions,
    FilterDraft,
    FilterScope,
    FilterSubject,
    ScopeKind,
)
from feedmill.model.user import SCOPES, Caller, User
from feedmill.store.database import Step
from feedmill.store.filters.apply_to_stored import StoredMatches
from feedmill.store.schema import entries, labels, states, unread, users
from tests.flows.refresh_environment import RefreshEnvironment, answer, item
from tests.library.subscribers import Subscribers

READ, STAR, HIDE = FilterActions(read=True), FilterActions(star=True), FilterActions(hide=True)
CRYPTO = FilterSubject("word", "crypto")


@dataclass
class Newcomer:
    """Alice, and a feed with three entries that Bob reads."""

    env: RefreshEnvironment
    subscribers: Subscribers
    alice: User
    url: str

    @classmethod
    async def of(cls, env: RefreshEnvironment) -> "Newcomer":
        subscribers = Subscribers(env).with_filters()
        alice, bob = await subscribers.person("alice"), await subscribers.person("bob")
        url = env.web.serve("/feed", answer(item("crypto falls"), item("kilns"), item("glazes"), title="Pottery"))
        await subscribers.subscribe(bob, url)
        return cls(env, subscribers, alice, url)

    async def filter(self, condition: str, actions: FilterActions, **more: Any) -> EntryFilter:
        draft = FilterDraft(condition, condition, actions=actions, **more)
        return await create_filter(self.env.db, Caller(self.alice, frozenset(SCOPES)), draft, self.env.now)

    async def join(self, **settings: Any) -> None:
        folder_ids = settings.pop("folder_ids", ())
        await self.subscribers.subscribe(self.alice, self.url, settings=FeedSettings(**settings), folder_ids=folder_ids)

    async def ids(self) -> dict[str, int]:
        return {row["title"]: row["id"] for row in await self.env.rows(entries)}

    async def unread(self) -> list[str]:
        own = select(entries.c.title).join(unread, unread.c.entry_id == entries.c.id)
        own = own.join(users, users.c.unread_list_id == unread.c.list_id).where(users.c.id == self.alice.id)
        titles = sorted(row["title"] for row in await self.env.db.query(own))
        assert await self.subscribers.unread_and_counted(self.alice) == (len(titles), len(titles))
        return titles

    async def effects(self) -> list[tuple[str, FilterAction]]:
        ids = await self.ids()
        found = await effects_of_entries(self.env.db, self.alice.id, list(ids.values()))
        return sorted((title, one.action) for title, id in ids.items() for one in found.get(id, ()))


@pytest.fixture
async def newcomer(any_env: RefreshEnvironment) -> Newcomer:
    return await Newcomer.of(any_env)


@pytest.fixture
async def one_newcomer(env: RefreshEnvironment) -> Newcomer:
    return await Newcomer.of(env)


async def test_what_is_muted_is_not_unread_for_a_new_subscriber(newcomer: Newcomer) -> None:
    muted = (await mute(newcomer.env.db, newcomer.alice.id, CRYPTO, newcomer.env.now)).filter

    await newcomer.join()

    assert await newcomer.unread() == ["glazes", "kilns"]
    assert await newcomer.effects() == [("crypto falls", FilterAction.HIDE)]
    assert (await find_filter(newcomer.env.db, newcomer.alice.id, muted.id)).hit_count == 1


async def test_filters_of_a_new_subscriber_do_what_they_do_in_a_refresh(newcomer: Newcomer) -> None:
    await follow(newcomer.env.db, newcomer.alice.id, FilterSubject("word", "glazes"), newcomer.env.now)
    await mute(newcomer.env.db, newcomer.alice.id, FilterSubject("word", "glazes"), newcomer.env.now)
    await newcomer.filter("kilns", READ)
    await newcomer.filter("crypto OR kilns", STAR)

    await newcomer.join()

    assert await newcomer.unread() == ["crypto falls", "glazes"]
    assert await newcomer.effects() == [
        ("crypto falls", FilterAction.STAR),
        ("glazes", FilterAction.RAISE),
        ("kilns", FilterAction.READ),
        ("kilns", FilterAction.STAR),
    ]


async def test_filters_know_the_folder_and_the_title_of_a_new_subscription(newcomer: Newcomer) -> None:
    found = await ensure_folders(newcomer.env.db, newcomer.alice.id, [("Crafts", "Clay")])
    crafts, clay = found[("Crafts",)], found[("Crafts", "Clay")]
    await newcomer.filter("crypto", HIDE, scope=FilterScope(ScopeKind.FOLDER, crafts))
    await newcomer.filter("kilns feed:mugs", HIDE)
    await newcomer.filter("glazes feed:pottery", HIDE)

    await newcomer.join(folder_ids=(clay,), title="Mugs")

    assert await newcomer.unread() == ["glazes"]


async def test_what_the_rules_of_a_new_subscriber_block_no_filter_touches(one_newcomer: Newcomer) -> None:
    await one_newcomer.filter("crypto", STAR)

    await one_newcomer.join(block_rules="crypto")

    assert await one_newcomer.unread() == ["glazes", "kilns"]
    assert await one_newcomer.effects() == []


async def test_reverting_a_mute_makes_unread_what_it_kept_from_a_new_subscriber(one_newcomer: Newcomer) -> None:
    db, alice = one_newcomer.env.db, one_newcomer.alice
    muted = (await mute(db, alice.id, CRYPTO, one_newcomer.env.now)).filter
    await one_newcomer.join()

    await revert_filter(db, alice.id, muted.id, one_newcomer.env.now)
    await FilterJobWorker(db, clock=lambda: one_newcomer.env.now).work()

    assert await one_newcomer.unread() == ["crypto falls", "glazes", "kilns"]


async def test_who_subscribes_again_has_nothing_unread_that_was_hidden_and_nothing_starred_again(
    newcomer: Newcomer,
) -> None:
    env, alice = newcomer.env, newcomer.alice
    await mute(env.db, alice.id, CRYPTO, env.now)
    await newcomer.filter("kilns", STAR)
    await newcomer.join()
    kilns = (await newcomer.ids())["kilns"]
    await apply_marks(env.db, alice.id, [kilns], EntryMarks(read=True, starred=False), env.now)
    [mine] = await newcomer.subscribers.mine(alice)
    await newcomer.subscribers.leave(alice, mine)

    await newcomer.join()

    assert await newcomer.unread() == ["glazes"]
    assert [row["starred_at"] for row in await env.rows(states, user_id=alice.id)] == [None]


async def test_filters_act_on_known_feeds_of_an_imported_list(newcomer: Newcomer) -> None:
    await mute(newcomer.env.db, newcomer.alice.id, CRYPTO, newcomer.env.now)
    listed = write_opml([OpmlFeed(newcomer.url, "Pottery", None)], title="List")

    plan = await plan_import(newcomer.env.db, newcomer.alice, listed)
    await run_import(newcomer.env.tools, newcomer.alice, plan)

    assert await newcomer.unread() == ["glazes", "kilns"]


async def test_a_new_subscriber_is_subscribed_without_filters_that_the_database_refuses(
    newcomer: Newcomer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await mute(newcomer.env.db, newcomer.alice.id, CRYPTO, newcomer.env.now)

    def refused(matches: StoredMatches, *_: object) -> list[Step]:
        return [Step(labels.insert().values(name="no owner"))]

    monkeypatch.setattr("feedmill.library.filters.filter_new_subscription.steps_to_apply", refused)
    with capture_logs() as logged:
        await newcomer.join()

    assert await newcomer.unread() == ["crypto falls", "glazes", "kilns"]
    assert [line["user_id"] for line in logged if line["event"] == "subscription_not_filtered"] == [newcomer.alice.id]
