"""A user's filters, mutes and follows: created, changed, ordered, deleted; nobody else's."""

from dataclasses import replace
from datetime import timedelta

import pytest

from feedmill.errors import BadInput, LimitExceeded, NotFound, UnknownGroup
from feedmill.library.entries.labels import ensure_label
from feedmill.library.filters import manage_filters as own
from feedmill.library.filters.conditions import BadCondition
from feedmill.library.filters.mutes import (
    FilterPeriod,
    FormerPeriod,
    change_until,
    follow,
    mute,
    restore_period,
)
from feedmill.library.users import limits
from feedmill.model.filters.entry_filter import (
    FilterActions,
    FilterDraft,
    FilterKind,
    FilterScope,
    FilterSubject,
    ScopeKind,
)
from feedmill.model.pool import PoolOptions, PoolRight, PoolRule
from feedmill.model.user import SCOPES, Actor, Caller, User
from feedmill.store.database import Database
from feedmill.store.filters.filters import add_filter
from feedmill.store.pools.grants import grant_access
from feedmill.store.pools.groups import add_group
from feedmill.store.subscriptions.folders import drop_folders
from tests.busy_database import BusyDatabase
from tests.library.small_library import DAY, HOUR, NOW, SmallLibrary

STAR = FilterActions(star=True)
RUST = FilterDraft("Rust releases", "in:title:rust release", actions=STAR)


def who(user: User) -> Caller:
    return Caller(user, frozenset(SCOPES))


async def test_a_filter_is_kept_as_its_owner_wrote_it(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice = await library.person()
    subscription = await library.subscribe(alice, await library.feed())
    folder = await library.folder(alice, "Tech", subscription)
    actions = FilterActions(star=True, raise_to_top=True, label_ids=(await ensure_label(any_db, alice.id, "work"),))
    draft = FilterDraft(
        "Rust", "rust", FilterScope(ScopeKind.FOLDER, folder), actions, stops=True, expires_at=NOW + DAY
    )

    made = await own.create_filter(any_db, who(alice), draft, NOW)

    assert await own.filters_of_user(any_db, alice.id) == [made]
    assert (made.name, made.condition, made.scope, made.actions) == ("Rust", "rust", draft.scope, actions)
    assert (made.stops, made.enabled, made.kind, made.hit_count) == (True, True, FilterKind.FILTER, 0)
    assert not made.is_expired(NOW)
    assert made.is_expired(NOW + DAY)


async def test_two_filters_created_at_once_are_told_apart(any_db: Database) -> None:
    alice = await SmallLibrary(any_db).person()
    busy = BusyDatabase(any_db, lambda: add_filter(any_db, alice.id, FilterKind.FILTER, RUST, None, NOW))

    made = await add_filter(busy, alice.id, FilterKind.FILTER, RUST, None, NOW)  # type: ignore[arg-type]

    assert made.id == min(each.id for each in await own.filters_of_user(any_db, alice.id))


async def test_a_filter_that_has_ended_is_renamed_and_begins_again_only_on_request(any_db: Database) -> None:
    alice = await SmallLibrary(any_db).person()
    ended = replace(RUST, expires_at=NOW + DAY)
    made = await own.create_filter(any_db, who(alice), ended, NOW)
    later = NOW + 2 * DAY

    renamed = await own.change_filter(any_db, who(alice), made.id, replace(ended, name="Old"), later)

    assert (renamed.name, renamed.is_expired(later)) == ("Old", True)
    with pytest.raises(BadInput) as refused:
        await own.change_filter(any_db, who(alice), made.id, replace(ended, expires_at=NOW + DAY + HOUR), later)
    assert refused.value.field == "expires_at"


async def test_filters_have_an_order(any_db: Database) -> None:
    alice = await SmallLibrary(any_db).person()
    one, two, three = [
        (await own.create_filter(any_db, who(alice), replace(RUST, name=name), NOW)).id for name in ("1", "2", "3")
    ]

    await own.order_filters(any_db, alice.id, [three, one])

    assert [each.id for each in await own.filters_of_user(any_db, alice.id)] == [three, one, two]


async def test_a_filter_is_changed_turned_off_and_deleted(any_db: Database) -> None:
    alice = await SmallLibrary(any_db).person()
    made = await own.create_filter(any_db, who(alice), RUST, NOW)

    changed = await own.change_filter(any_db, who(alice), made.id, replace(RUST, condition="go"), NOW)
    await own.enable_filter(any_db, alice.id, made.id, NOW, enabled=False)
    off = await own.find_filter(any_db, alice.id, made.id)
    await own.delete_filter(any_db, alice.id, made.id, NOW)

    assert (changed.condition, off.enabled) == ("go", False)
    assert await own.filters_of_user(any_db, alice.id) == []
    with pytest.raises(NotFound):
        await own.find_filter(any_db, alice.id, made.id)


async def test_charlie_neither_sees_nor_changes_what_is_alices(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, charlie = await library.person("alice"), await library.person("charlie")
    subscription = await library.subscribe(alice, await library.feed())
    folder, label = await library.folder(alice, "Tech"), await ensure_label(any_db, alice.id, "work")
    made = await own.create_filter(any_db, who(alice), RUST, NOW)

    assert await own.filters_of_user(any_db, charlie.id) == []
    for attempt in (
        own.find_filter(any_db, charlie.id, made.id),
        own.change_filter(any_db, who(charlie), made.id, RUST, NOW),
        own.enable_filter(any_db, charlie.id, made.id, NOW, enabled=False, revert=True),
        own.delete_filter(any_db, charlie.id, made.id, NOW, revert=True),
        own.order_filters(any_db, charlie.id, [made.id]),
        change_until(any_db, charlie.id, made.id, None, NOW),
        own.create_filter(any_db, who(charlie), replace(RUST, scope=FilterScope(ScopeKind.FEED, subscription)), NOW),
        own.create_filter(any_db, who(charlie), replace(RUST, scope=FilterScope(ScopeKind.FOLDER, folder)), NOW),
        own.create_filter(any_db, who(charlie), replace(RUST, actions=FilterActions(label_ids=(label,))), NOW),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await own.filters_of_user(any_db, alice.id) == [made]


async def test_only_a_group_that_one_may_fill_can_be_chosen(any_db: Database) -> None:
    alice = await SmallLibrary(any_db).person()
    group = await add_group(any_db, "news", PoolRule(no_entries=True), PoolOptions(), PoolOptions(), NOW)
    draft = replace(RUST, actions=FilterActions(pool_group_ids=(group.id,)))

    await grant_access(any_db, group, alice, Actor(), NOW, PoolRight.TAKE)
    with pytest.raises(UnknownGroup):
        await own.create_filter(any_db, who(alice), draft, NOW)
    await grant_access(any_db, group, alice, Actor(), NOW, PoolRight.FILL)
    made = await own.create_filter(any_db, who(alice), draft, NOW)

    assert made.actions.pool_group_ids == (group.id,)
    assert [each.name for each in await own.fillable_groups(any_db, who(alice))] == ["news"]


@pytest.mark.parametrize(
    ("draft", "error"),
    [
        (replace(RUST, name=" "), BadInput),
        (replace(RUST, name="x" * 191), BadInput),
        (replace(RUST, condition='"'), BadCondition),
        (replace(RUST, actions=FilterActions()), BadInput),
        (replace(RUST, actions=FilterActions(label_ids=tuple(range(21)))), BadInput),
        (replace(RUST, expires_at=NOW), BadInput),
        (replace(RUST, scope=FilterScope(ScopeKind.FOLDER)), BadInput),
        (replace(RUST, scope=FilterScope(ScopeKind.FEED, 99)), NotFound),
    ],
)
async def test_a_filter_that_makes_no_sense_is_refused(
    db: Database, draft: FilterDraft, error: type[Exception]
) -> None:
    alice = await SmallLibrary(db).person()

    with pytest.raises(error):
        await own.create_filter(db, who(alice), draft, NOW)


async def test_a_user_has_a_limited_number_of_filters(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(limits.MAX_COUNTS, "filters", 1)
    alice = await SmallLibrary(db).person()
    made = await own.create_filter(db, who(alice), RUST, NOW)

    with pytest.raises(LimitExceeded):
        await own.create_filter(db, who(alice), RUST, NOW)
    await own.delete_filter(db, alice.id, made.id, NOW)

    assert await own.create_filter(db, who(alice), RUST, NOW)


async def test_a_filter_whose_folder_was_deleted_has_no_feeds(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice = await library.person()
    folder = await library.folder(alice, "Tech")
    scope = FilterScope(ScopeKind.FOLDER, folder)
    made = await own.create_filter(any_db, who(alice), replace(RUST, scope=scope), NOW)

    await drop_folders(any_db, alice.id, [folder])

    assert (await own.find_filter(any_db, alice.id, made.id)).scope == FilterScope(ScopeKind.FOLDER, None)


# --- mutes and follows --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "condition"),
    [
        (FilterSubject("word", "  world   cup "), '"world cup"'),
        (FilterSubject("word", 'say "hello"'), '"say hello"'),
        (FilterSubject("author", "Ann Potter"), 'author:"Ann Potter"'),
        (FilterSubject("site", "example.org"), 'site:"example.org"'),
    ],
)
async def test_a_mute_is_a_filter_that_hides_and_stops(db: Database, subject: FilterSubject, condition: str) -> None:
    alice = await SmallLibrary(db).person()

    made = (await mute(db, alice.id, subject, NOW)).filter

    assert (made.kind, made.condition, made.actions) == (FilterKind.MUTE, condition, FilterActions(hide=True))
    assert (made.stops, made.expires_at) == (True, None)
    assert made.subject is not None
    assert made.subject.kind == subject.kind


async def test_muting_the_same_again_changes_until_when(any_db: Database) -> None:
    alice = await SmallLibrary(any_db).person()
    cup = FilterSubject("word", "world cup")

    first, _ = await mute(any_db, alice.id, cup, NOW, FilterPeriod(NOW + DAY))
    again, before = await mute(any_db, alice.id, cup, NOW, FilterPeriod(NOW + 7 * DAY))
    for_good = await change_until(any_db, alice.id, first.id, None, NOW)
    followed, _ = await follow(any_db, alice.id, cup, NOW)

    assert before == first
    assert first.id == again.id == for_good.id != followed.id
    assert (again.is_expired(NOW + DAY), for_good.expires_at) == (False, None)
    assert [each.id for each in await own.filters_of_user(any_db, alice.id, FilterKind.MUTE)] == [first.id]


async def test_a_changed_mute_holds_again_as_before(any_db: Database) -> None:
    alice = await SmallLibrary(any_db).person()
    cup = FilterSubject("word", "world cup")
    before, _ = await mute(any_db, alice.id, cup, NOW, FilterPeriod(NOW + DAY))
    await mute(any_db, alice.id, cup, NOW)

    restored = await restore_period(any_db, alice.id, before.id, FormerPeriod(NOW + DAY, enabled=True), NOW + 2 * DAY)

    assert restored == before


@pytest.mark.parametrize("text", ["", "...", "x" * 101])
async def test_a_mute_needs_a_word(db: Database, text: str) -> None:
    alice = await SmallLibrary(db).person()

    with pytest.raises(BadInput):
        await mute(db, alice.id, FilterSubject("word", text), NOW)


async def test_a_mute_must_end_in_the_future(db: Database) -> None:
    alice = await SmallLibrary(db).person()

    with pytest.raises(BadInput):
        await mute(db, alice.id, FilterSubject("word", "cup"), NOW, FilterPeriod(NOW - timedelta(seconds=1)))


async def test_the_regular_expressions_of_a_user_are_limited(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "MOST_REGEXES_OF_USER", 3)
    library = SmallLibrary(db)
    alice, bob = await library.person(), await library.person("bob")
    two = replace(RUST, condition="/ru.t/ OR /re.ease/")
    made = await own.create_filter(db, who(alice), two, NOW)

    with pytest.raises(BadInput) as refused:
        await own.create_filter(db, who(alice), two, NOW)

    assert refused.value.field == "condition"
    await own.change_filter(db, who(alice), made.id, replace(two, condition="/a/ /b/ /c/"), NOW)
    await own.create_filter(db, who(alice), RUST, NOW)
    await own.create_filter(db, who(bob), two, NOW)
