"""Filters of users act in the atomic write of a refresh, on every database; everybody's on their own states."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.entries.labels import drop_label, ensure_label
from feedmill.library.entries.marks import apply_marks
from feedmill.library.filters.effects import effects_of_entries, effects_of_entry, hits_of_filter, undo_effect
from feedmill.library.filters.filter_jobs import jobs_of_filter, start_job_again
from feedmill.library.filters.manage_filters import create_filter, delete_filter, enable_filter, find_filter
from feedmill.library.filters.mutes import FilterPeriod, follow, mute
from feedmill.library.filters.work_on_jobs import FilterJobWorker
from feedmill.model.entry_lists import EntryScope
from feedmill.model.entry_marks import EntryMarks, MarkAllRead
from feedmill.model.feed import ArchivePolicy
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
from feedmill.model.pool import PoolOptions, PoolRight, PoolRule
from feedmill.model.subscription import Subscription
from feedmill.model.timestamps import to_iso
from feedmill.model.user import SCOPES, Actor, Caller, User
from feedmill.store.entries.mark_all_read import mark_unread_as_read
from feedmill.store.entries.marks import expire_read_later
from feedmill.store.pools.grants import grant_access, revoke_access
from feedmill.store.pools.groups import add_group
from feedmill.store.schema import (
    entries,
    entry_labels,
    filter_effects,
    folder_subscriptions,
    folders,
    full_text_tasks,
    image_tasks,
    labels,
    pool_items,
    states,
    unread,
    users,
)
from tests.flows.refresh_environment import DAY, HOUR, RefreshEnvironment, answer, item
from tests.library.filters.counting_clock import CountingClock
from tests.library.subscribers import Subscribers

READ, STAR, HIDE = FilterActions(read=True), FilterActions(star=True), FilterActions(hide=True)


@dataclass
class Readers:
    """Alice and Bob, who read the same feed; what they have of each entry, by its title."""

    env: RefreshEnvironment
    subscribers: Subscribers
    alice: User
    bob: User
    mine: Subscription

    @classmethod
    async def of(cls, env: RefreshEnvironment) -> "Readers":
        subscribers = Subscribers(env).with_filters()
        alice, bob = await subscribers.person("alice"), await subscribers.person("bob")
        url = env.web.serve("/feed", answer(item("first")))
        mine = (await subscribers.subscribe(alice, url)).subscription
        await subscribers.subscribe(bob, url)
        return cls(env, subscribers, alice, bob, mine)

    async def filter(self, user: User, condition: str, actions: FilterActions, **more: Any) -> EntryFilter:
        draft = FilterDraft(more.pop("name", condition), condition, actions=actions, **more)
        return await create_filter(self.env.db, Caller(user, frozenset(SCOPES)), draft, self.env.now)

    async def arrive(self, *items: str) -> None:
        await self.env.later(HOUR, await self.subscribers.feed(self.mine), answer(*items))

    async def ids(self) -> dict[str, int]:
        return {row["title"]: row["id"] for row in await self.env.rows(entries)}

    async def unread(self, user: User) -> list[str]:
        own = select(entries.c.title).join(unread, unread.c.entry_id == entries.c.id)
        own = own.join(users, users.c.unread_list_id == unread.c.list_id).where(users.c.id == user.id)
        return sorted(row["title"] for row in await self.env.db.query(own))

    async def marked(self, user: User, column: str) -> list[str]:
        titles = {id: title for title, id in (await self.ids()).items()}
        rows = await self.env.rows(states, user_id=user.id)
        return sorted(titles[row["entry_id"]] for row in rows if row[column] is not None)

    async def effects(self, user: User) -> list[tuple[str, FilterAction, str]]:
        """Title, action and name of the filter."""
        ids = await self.ids()
        found = await effects_of_entries(self.env.db, user.id, list(ids.values()))
        titles = {id: title for title, id in ids.items()}
        return sorted((titles[id], one.action, one.filter_name) for id, some in found.items() for one in some)


@pytest.fixture
async def readers(any_env: RefreshEnvironment) -> Readers:
    return await Readers.of(any_env)


async def test_two_users_filters_never_touch_each_others_states(readers: Readers) -> None:
    await readers.filter(readers.alice, "ads", READ)
    await readers.filter(readers.bob, "news", STAR)

    await readers.arrive(item("ads"), item("news"), item("other"))

    assert await readers.unread(readers.alice) == ["first", "news", "other"]
    assert await readers.unread(readers.bob) == ["ads", "first", "news", "other"]
    assert (await readers.marked(readers.alice, "read_at"), await readers.marked(readers.alice, "starred_at")) == (
        ["ads"],
        [],
    )
    assert (await readers.marked(readers.bob, "read_at"), await readers.marked(readers.bob, "starred_at")) == (
        [],
        ["news"],
    )
    assert await readers.subscribers.unread_and_counted(readers.alice) == (3, 3)
    assert await readers.effects(readers.alice) == [("ads", FilterAction.READ, "ads")]
    assert await readers.effects(readers.bob) == [("news", FilterAction.STAR, "news")]


async def test_every_action_is_done_and_recorded(readers: Readers) -> None:
    env, alice = readers.env, readers.alice
    label = await ensure_label(env.db, alice.id, "work")
    group = await add_group(env.db, "news", PoolRule(no_entries=True), PoolOptions(), PoolOptions(), env.now)
    await grant_access(env.db, group, alice, Actor(), env.now, PoolRight.FILL)
    everything = FilterActions(
        star=True,
        later=True,
        hide=True,
        raise_to_top=True,
        notify=True,
        full_text=True,
        label_ids=(label,),
        pool_group_ids=(group.id,),
    )
    made = await readers.filter(alice, "kilns", everything)

    await readers.arrive(item("kilns", "about clay"), item("other"))

    assert await readers.unread(alice) == ["first", "other"]
    assert await readers.marked(alice, "starred_at") == await readers.marked(alice, "later_until") == ["kilns"]
    kilns = (await readers.ids())["kilns"]
    assert [row["entry_id"] for row in await env.rows(entry_labels)] == [kilns]
    assert [row["entry_id"] for row in await env.rows(full_text_tasks)] == [kilns]
    assert sorted(row["kind"] for row in await env.rows(pool_items, entry_id=kilns)) == ["contents", "titles"]
    found = await effects_of_entry(env.db, alice.id, kilns)
    assert {effect.action for effect in found} == set(FilterAction) - {FilterAction.READ, FilterAction.SAVE}
    assert {effect.target_name for effect in found} == {None, "work", "news"}
    counted = await find_filter(env.db, alice.id, made.id)
    assert (counted.hit_count, counted.last_hit_at) == (1, to_iso(env.now))


async def test_filters_run_in_order_until_one_stops(readers: Readers) -> None:
    await readers.filter(readers.alice, "kilns", STAR, name="one", stops=True)
    await readers.filter(readers.alice, "kilns OR clay", FilterActions(star=True, later=True), name="two")
    await readers.filter(readers.alice, "clay", FilterActions(star=True, read=True), name="three")

    await readers.arrive(item("kilns"), item("clay"))

    assert await readers.effects(readers.alice) == [
        ("clay", FilterAction.LATER, "two"),
        ("clay", FilterAction.READ, "three"),
        ("clay", FilterAction.STAR, "two"),
        ("kilns", FilterAction.STAR, "one"),
    ]


async def test_what_is_read_is_not_hidden_too(readers: Readers) -> None:
    await readers.filter(readers.alice, "kilns", READ, name="one")
    await readers.filter(readers.alice, "kilns", HIDE, name="two")

    await readers.arrive(item("kilns"))

    assert await readers.effects(readers.alice) == [("kilns", FilterAction.READ, "one")]
    assert await readers.subscribers.unread_and_counted(readers.alice) == (1, 1)


async def test_a_mute_hides_and_what_is_followed_is_not_muted(readers: Readers) -> None:
    env, alice = readers.env, readers.alice
    await readers.filter(alice, "cup", STAR)
    await mute(env.db, alice.id, FilterSubject("word", "cup"), env.now)
    await follow(env.db, alice.id, FilterSubject("word", "denmark"), env.now)

    await readers.arrive(item("cup final"), item("denmark in the cup"))

    assert await readers.unread(alice) == ["denmark in the cup", "first"]
    assert await readers.effects(alice) == [
        ("cup final", FilterAction.HIDE, "cup"),
        ("denmark in the cup", FilterAction.RAISE, "denmark"),
        ("denmark in the cup", FilterAction.STAR, "cup"),
    ]


async def test_a_mute_ends_by_itself(readers: Readers) -> None:
    env = readers.env
    await mute(env.db, readers.alice.id, FilterSubject("word", "cup"), env.now, FilterPeriod(env.now + DAY))

    await readers.arrive(item("cup one"))
    env.now += DAY
    await readers.arrive(item("cup two"))

    assert await readers.unread(readers.alice) == ["cup two", "first"]


async def test_a_filter_keeps_to_its_scope(readers: Readers) -> None:
    env, alice = readers.env, readers.alice
    outer = await env.put(folders, user_id=alice.id, name="Tech")
    inner = await env.put(folders, user_id=alice.id, name="Deep", parent_id=outer)
    other = await env.put(folders, user_id=alice.id, name="Other")
    await env.put(folder_subscriptions, folder_id=inner, subscription_id=readers.mine.id)
    away = env.web.serve("/away", answer(item("away")))
    elsewhere = (await readers.subscribers.subscribe(alice, away)).subscription
    scopes = {
        "in the feed": FilterScope(ScopeKind.FEED, readers.mine.id),
        "in another feed": FilterScope(ScopeKind.FEED, elsewhere.id),
        "in a folder above": FilterScope(ScopeKind.FOLDER, outer),
        "in another folder": FilterScope(ScopeKind.FOLDER, other),
    }
    made = {name: await readers.filter(alice, "kilns", STAR, name=name, scope=scope) for name, scope in scopes.items()}

    await readers.arrive(item("kilns"))

    hits = {name: (await find_filter(env.db, alice.id, own.id)).hit_count for name, own in made.items()}
    assert hits == {"in the feed": 1, "in another feed": 0, "in a folder above": 1, "in another folder": 0}


async def test_conditions_name_feeds_folders_and_dates(readers: Readers) -> None:
    env, alice = readers.env, readers.alice
    await readers.subscribers.change(alice, readers.mine, title="The Potters")
    folder = await env.put(folders, user_id=alice.id, name="Tech")
    await env.put(folder_subscriptions, folder_id=folder, subscription_id=readers.mine.id)
    conditions = {
        "feed:potters": 1,
        f"feed:{readers.mine.id}": 1,
        "feed:weavers": 0,
        "folder:tech": 1,
        "folder:art": 0,
        "after:-2d kilns": 1,
        "before:-2d": 0,
        "-feed:potters": 0,
    }
    made = {condition: await readers.filter(alice, condition, STAR) for condition in conditions}

    await readers.arrive(item("kilns"))

    hits = {condition: (await find_filter(env.db, alice.id, own.id)).hit_count for condition, own in made.items()}
    assert hits == conditions


async def test_what_the_rules_of_a_feed_block_is_left_alone_by_filters(readers: Readers) -> None:
    await readers.subscribers.settle(readers.alice, readers.mine, block_rules="ads")
    await readers.filter(readers.alice, "kilns", READ)

    await readers.arrive(item("ads for kilns"), item("kilns"))

    assert await readers.effects(readers.alice) == [("kilns", FilterAction.READ, "kilns")]
    assert await readers.subscribers.unread_and_counted(readers.alice) == (1, 1)


async def test_a_filter_that_is_off_or_deleted_does_nothing(readers: Readers) -> None:
    env, alice = readers.env, readers.alice
    off, gone = await readers.filter(alice, "kilns", STAR), await readers.filter(alice, "kilns", READ)
    await enable_filter(env.db, alice.id, off.id, env.now, enabled=False)
    await delete_filter(env.db, alice.id, gone.id, env.now)

    await readers.arrive(item("kilns"))

    assert await readers.effects(alice) == []


async def test_a_label_that_was_deleted_is_not_set(readers: Readers) -> None:
    env, alice = readers.env, readers.alice
    label = await ensure_label(env.db, alice.id, "work")
    await readers.filter(alice, "kilns", FilterActions(star=True, label_ids=(label,)))
    await drop_label(env.db, alice.id, label)

    await readers.arrive(item("kilns"))

    assert await readers.effects(alice) == [("kilns", FilterAction.STAR, "kilns")]
    assert await env.rows(labels) == []


async def test_without_the_right_to_fill_a_pool_nothing_is_sent_there(readers: Readers) -> None:
    env, alice = readers.env, readers.alice
    group = await add_group(env.db, "news", PoolRule(no_entries=True), PoolOptions(), PoolOptions(), env.now)
    await grant_access(env.db, group, alice, Actor(), env.now, PoolRight.FILL)
    await readers.filter(alice, "kilns", FilterActions(pool_group_ids=(group.id,)))
    await revoke_access(env.db, group, alice.id, Actor(), env.now, PoolRight.FILL)

    await readers.arrive(item("kilns"))

    assert await env.rows(pool_items) == []
    assert await readers.effects(alice) == []


async def test_images_of_starred_entries_are_archived_if_only_those_are(readers: Readers) -> None:
    await readers.env.change(await readers.subscribers.feed(readers.mine), archive_policy=ArchivePolicy.STARRED)
    await readers.filter(readers.alice, "kilns", STAR)
    picture = '<img src="https://example.org/1.png">'

    await readers.arrive(item("kilns", picture), item("other", picture))

    assert [row["entry_id"] for row in await readers.env.rows(image_tasks)] == [(await readers.ids())["kilns"]]


async def test_the_entries_that_a_filter_matched_are_listed(readers: Readers) -> None:
    env, alice = readers.env, readers.alice
    made = await readers.filter(alice, "kilns", STAR)
    await readers.arrive(item("kilns one"))
    await readers.arrive(item("kilns two"), item("other"))

    first = await hits_of_filter(env.db, alice.id, made.id, 1)
    rest = await hits_of_filter(env.db, alice.id, made.id, 1, first.next)

    assert [(hit.entry.title, hit.actions) for hit in [*first.items, *rest.items]] == [
        ("kilns two", (FilterAction.STAR,)),
        ("kilns one", (FilterAction.STAR,)),
    ]
    assert rest.next is None
    with pytest.raises(NotFound):
        await hits_of_filter(env.db, readers.bob.id, made.id)


# --- slow expressions, and judging that fails ------------------------------------------------------------------


async def test_entries_are_stored_when_the_time_for_expressions_is_up_and_their_filter_says_so(
    readers: Readers,
) -> None:
    db, alice = readers.env.db, readers.alice
    slow = await readers.filter(alice, "in:title:/k.*s/", STAR)
    await readers.filter(alice, "kilns", READ)
    readers.subscribers.with_filters(CountingClock())
    kilns = [f"kilns {number}" for number in range(1, 6)]

    with capture_logs() as logged:
        await readers.arrive(*map(item, kilns))
    [first] = await jobs_of_filter(db, alice.id, slow.id)
    await readers.arrive(*(item(f"more {title}") for title in kilns[:3]))
    [second] = await jobs_of_filter(db, alice.id, slow.id)

    assert (first.status, first.last_error) == ("cancelled", Message("job.regexes_too_slow", n=3))
    assert (second.last_error, second.id > first.id) == (Message("job.regexes_too_slow", n=1), True)
    assert (second.can_undo, second.can_start_again) == (False, True)
    assert len(await readers.marked(alice, "starred_at")) == 4
    assert len(await readers.marked(alice, "read_at")) == 8
    events = [line for line in logged if line["event"] == "filter_regexes_too_slow"]
    assert [(line["feed_id"], line["filter_ids"]) for line in events] == [(readers.mine.feed_id, [slow.id])]


async def test_applying_a_filter_makes_up_for_what_it_left_out(readers: Readers) -> None:
    db, alice = readers.env.db, readers.alice
    slow = await readers.filter(alice, "in:title:/k.*s/", STAR)
    readers.subscribers.with_filters(CountingClock())
    await readers.arrive(*(item(f"kilns {number}") for number in range(1, 6)))
    [note] = await jobs_of_filter(db, alice.id, slow.id)

    again = await start_job_again(db, alice.id, note.id, readers.env.now)
    while await FilterJobWorker(db, clock=lambda: readers.env.now).work():
        pass

    assert [job.id for job in await jobs_of_filter(db, alice.id, slow.id)] == [again.id]
    assert len(await readers.marked(alice, "starred_at")) == 5


async def test_entries_are_stored_when_judging_fails(readers: Readers) -> None:
    def broken() -> float:
        raise RuntimeError("no clock")

    await readers.filter(readers.alice, "in:title:/k.*s/", STAR)
    readers.subscribers.with_filters(broken)

    with capture_logs() as logged:
        await readers.arrive(item("kilns"))

    assert await readers.unread(readers.alice) == ["first", "kilns"]
    [line] = [line for line in logged if line["event"] == "filters_not_applied"]
    assert line["feed_id"] == readers.mine.feed_id


# --- undo of one effect -------------------------------------------------------------------------------------

MARKS = {
    FilterAction.READ: (FilterActions(read=True), "read_at"),
    FilterAction.STAR: (FilterActions(star=True), "starred_at"),
    FilterAction.LATER: (FilterActions(later=True), "later_at"),
}


@pytest.mark.parametrize("action", MARKS)
async def test_an_effect_is_taken_back_and_forgotten(readers: Readers, action: FilterAction) -> None:
    actions, column = MARKS[action]
    env, alice = readers.env, readers.alice
    await readers.filter(alice, "kilns", actions)
    await readers.arrive(item("kilns"))
    kilns = (await readers.ids())["kilns"]

    with pytest.raises(NotFound):
        await undo_effect(env.db, readers.bob.id, kilns, action, 0, env.now)
    assert await readers.marked(alice, column) == ["kilns"]
    await undo_effect(env.db, alice.id, kilns, action, 0, env.now)

    assert await readers.marked(alice, column) == []
    assert await readers.unread(alice) == ["first", "kilns"]
    assert await readers.subscribers.unread_and_counted(alice) == (2, 2)
    assert await readers.effects(alice) == []
    with pytest.raises(NotFound):
        await undo_effect(env.db, alice.id, kilns, action, 0, env.now)


async def test_hidden_labelled_and_pooled_entries_are_taken_back(readers: Readers) -> None:
    env, alice = readers.env, readers.alice
    label = await ensure_label(env.db, alice.id, "work")
    group = await add_group(env.db, "news", PoolRule(no_entries=True), PoolOptions(), PoolOptions(), env.now)
    await grant_access(env.db, group, alice, Actor(), env.now, PoolRight.FILL)
    await readers.filter(alice, "kilns", FilterActions(hide=True, label_ids=(label,), pool_group_ids=(group.id,)))
    await readers.arrive(item("kilns", "clay"))
    kilns = (await readers.ids())["kilns"]

    for effect in await effects_of_entry(env.db, alice.id, kilns):
        await undo_effect(env.db, alice.id, kilns, effect.action, effect.target_id, env.now)

    assert await readers.unread(alice) == ["first", "kilns"]
    assert await env.rows(entry_labels) == await env.rows(pool_items) == await env.rows(filter_effects) == []


async def test_an_undo_leaves_in_a_pool_what_another_user_sends_there_too(readers: Readers) -> None:
    env, both = readers.env, (readers.alice, readers.bob)
    group = await add_group(env.db, "news", PoolRule(no_entries=True), PoolOptions(), PoolOptions(), env.now)
    for user in both:
        await grant_access(env.db, group, user, Actor(), env.now, PoolRight.FILL)
        await readers.filter(user, "kilns", FilterActions(pool_group_ids=(group.id,)))
    await readers.arrive(item("kilns", "clay"))
    kilns = (await readers.ids())["kilns"]

    left = []
    for user in both:
        await undo_effect(env.db, user.id, kilns, FilterAction.POOL, group.id, env.now)
        left.append(sorted(row["kind"] for row in await env.rows(pool_items)))

    assert left == [["contents", "titles"], []]


async def test_nothing_is_shown_of_a_label_that_its_owner_deleted(readers: Readers) -> None:
    env, alice, bob = readers.env, readers.alice, readers.bob
    label, other = await ensure_label(env.db, alice.id, "work"), await ensure_label(env.db, bob.id, "work")
    await readers.filter(alice, "kilns", FilterActions(star=True, label_ids=(label,)))
    await readers.filter(bob, "kilns", FilterActions(label_ids=(other,)))
    await readers.arrive(item("kilns"))

    with pytest.raises(NotFound):
        await drop_label(env.db, alice.id, other)
    await drop_label(env.db, alice.id, label)

    assert await readers.effects(alice) == [("kilns", FilterAction.STAR, "kilns")]
    assert await readers.effects(bob) == [("kilns", FilterAction.LABEL, "kilns")]


WHOLE = EntryScope()


@pytest.mark.parametrize("action", [FilterAction.HIDE, FilterAction.READ])
@pytest.mark.parametrize("is_limited", [False, True])
async def test_what_was_marked_read_with_all_others_stays_read(
    readers: Readers, action: FilterAction, is_limited: bool
) -> None:
    env, alice = readers.env, readers.alice
    await readers.filter(alice, "kilns", HIDE if action is FilterAction.HIDE else READ)
    await readers.filter(readers.bob, "kilns", HIDE)
    await readers.arrive(item("kilns"))
    kilns = (await readers.ids())["kilns"]
    scope = EntryScope(subscription_ids=(readers.mine.id,)) if is_limited else WHOLE

    await mark_unread_as_read(env.db, alice.id, MarkAllRead(scope), env.now)

    with pytest.raises(NotFound):
        await undo_effect(env.db, alice.id, kilns, action, 0, env.now)
    assert (await readers.unread(alice), await readers.effects(alice)) == ([], [])
    assert await readers.effects(readers.bob) == [("kilns", FilterAction.HIDE, "kilns")]


async def test_what_was_not_marked_read_with_others_is_taken_back(readers: Readers) -> None:
    env, alice = readers.env, readers.alice
    await readers.filter(alice, "kilns", HIDE)
    await readers.arrive(item("kilns"))
    kilns = (await readers.ids())["kilns"]
    other = (await readers.subscribers.subscribe(alice, env.web.serve("/other", answer(item("other"))))).subscription

    await mark_unread_as_read(env.db, alice.id, MarkAllRead(EntryScope(subscription_ids=(other.id,))), env.now)
    await mark_unread_as_read(env.db, alice.id, MarkAllRead(WHOLE, before=env.now - 1000 * DAY), env.now)
    await undo_effect(env.db, alice.id, kilns, FilterAction.HIDE, 0, env.now)

    assert "kilns" in await readers.unread(alice)


async def test_what_was_sent_or_fetched_can_not_be_taken_back(readers: Readers) -> None:
    env, alice = readers.env, readers.alice
    await readers.filter(alice, "kilns", FilterActions(notify=True, full_text=True))
    await readers.arrive(item("kilns"))
    kilns = (await readers.ids())["kilns"]

    found = await effects_of_entry(env.db, alice.id, kilns)

    assert [(effect.action, effect.can_undo) for effect in found] == [
        (FilterAction.FULL_TEXT, False),
        (FilterAction.NOTIFY, False),
    ]
    with pytest.raises(NotFound):
        await undo_effect(env.db, alice.id, kilns, FilterAction.NOTIFY, 0, env.now)


@pytest.mark.parametrize(
    ("actions", "marks", "left"),
    [
        (FilterActions(star=True), EntryMarks(starred=True), set()),
        (FilterActions(star=True), EntryMarks(starred=False), set()),
        (FilterActions(star=True, later=True), EntryMarks(later=True), {FilterAction.STAR}),
        (FilterActions(read=True), EntryMarks(read=True), set()),
        (FilterActions(hide=True), EntryMarks(read=True), set()),
        # What is read stays raised, so that it has its place in the list from which it was opened.
        (FilterActions(raise_to_top=True, star=True), EntryMarks(read=True), {FilterAction.RAISE, FilterAction.STAR}),
    ],
)
async def test_what_a_user_marks_is_theirs(
    readers: Readers, actions: FilterActions, marks: EntryMarks, left: set[FilterAction]
) -> None:
    env, alice = readers.env, readers.alice
    await readers.filter(alice, "kilns", actions)
    await readers.filter(readers.bob, "kilns", actions)
    await readers.arrive(item("kilns"))
    kilns = (await readers.ids())["kilns"]

    await apply_marks(env.db, alice.id, [kilns], marks, env.now + timedelta(minutes=1))

    assert {effect.action for effect in await effects_of_entry(env.db, alice.id, kilns)} == left
    assert {target[0] for target in actions.targets} == {
        effect.action for effect in await effects_of_entry(env.db, readers.bob.id, kilns)
    }


async def test_a_label_that_the_user_sets_again_is_theirs(readers: Readers) -> None:
    env, alice = readers.env, readers.alice
    work, fun = await ensure_label(env.db, alice.id, "work"), await ensure_label(env.db, alice.id, "fun")
    await readers.filter(alice, "kilns", FilterActions(label_ids=(work, fun)))
    await readers.arrive(item("kilns"))
    kilns = (await readers.ids())["kilns"]

    await apply_marks(env.db, alice.id, [kilns], EntryMarks(remove_labels=(work,)), env.now)
    await apply_marks(env.db, alice.id, [kilns], EntryMarks(add_labels=(work,)), env.now)

    assert [effect.target_name for effect in await effects_of_entry(env.db, alice.id, kilns)] == ["fun"]


async def test_read_later_ends_also_if_a_filter_set_it(readers: Readers) -> None:
    await readers.filter(readers.alice, "kilns", FilterActions(later=True))
    await readers.arrive(item("kilns"))

    assert await expire_read_later(readers.env.db, readers.env.now + 31 * DAY) == 1


async def test_a_new_subscriber_without_settings_gets_no_filters_of_others(readers: Readers) -> None:
    await readers.filter(readers.alice, "kilns", READ)
    charlie = await readers.subscribers.person("charlie")
    feed = await readers.subscribers.feed(readers.mine)
    await readers.subscribers.subscribe(charlie, feed.url, settings=FeedSettings())

    await readers.arrive(item("kilns"))

    assert "kilns" in await readers.unread(charlie)
    assert await readers.effects(charlie) == []
