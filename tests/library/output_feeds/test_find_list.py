"""The entries of every kind of list, page by page, on every database."""

import pytest

from feedmill.library.entries.labels import make_label
from feedmill.library.entries.marks import apply_marks
from feedmill.library.filters.manage_filters import create_filter
from feedmill.library.output_feeds.find_list import available_lists, find_list_page
from feedmill.library.output_feeds.manage_output_feeds import create_output_feed, open_output_feed
from feedmill.library.output_feeds.read_page import read_output_page
from feedmill.library.search.saved_searches import create_saved_search
from feedmill.model.entry_lists import EntryScope
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.filters.entry_filter import FilterAction, FilterActions, FilterDraft
from feedmill.model.max_id import MAX_ID
from feedmill.model.pool import PoolKind, PoolOptions, PoolRule
from feedmill.model.syndication.output_feed import OutputList, OutputListKind, parse_output_list
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Actor, Caller, RequestOrigin, User
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.output_feeds import arrivals
from feedmill.store.pools.gather_entries import add_stored_entries
from feedmill.store.pools.grants import grant_access
from feedmill.store.pools.groups import add_group
from feedmill.store.schema import feeds, filter_effects, filter_hits
from tests.library.small_library import HOUR, NOW, SmallLibrary

TITLES = [f"mill {number}" for number in range(7)]


async def _lists(db: Database, user: User, library: SmallLibrary) -> tuple[dict[OutputListKind, OutputList], list[int]]:
    """A list of every kind with the same entries, and their ids."""
    feed, other = await library.feed("mills"), await library.feed("other")
    subscription = await library.subscribe(user, feed)
    folder = await library.folder(user, "Craft", subscription)
    ids = await library.arrive(feed, *TITLES)
    hidden = await library.arrive(other, "mill of others")
    label = await make_label(db, user.id, "Good")
    await apply_marks(db, user.id, ids, EntryMarks(starred=True, later=True, add_labels=(label.id,)), NOW)
    search = await create_saved_search(db, user.id, "Mills", "mill")
    group = await add_group(db, "texts", PoolRule(), PoolOptions(), PoolOptions(), NOW)
    # One entry has a title alone, one a content alone.
    pools = {(group.id, PoolKind.TITLES): ids[:-1], (group.id, PoolKind.CONTENTS): ids[1:]}
    await add_stored_entries(db, pools, NOW)
    await grant_access(db, group, user, Actor(), NOW)
    draft = FilterDraft("Mills", "mill", actions=FilterActions(raise_to_top=True))
    matched = await create_filter(db, Caller(user, user.scopes), draft, NOW)
    hits = [{"filter_id": matched.id, "entry_id": id, "at": to_iso(NOW)} for id in (*ids, *hidden)]
    await db.batch([Step(insert(filter_hits, "filter_id", "entry_id", "at"), hits)])
    numbers = {
        "filter": matched.id,
        "feed": subscription,
        "folder": folder,
        "label": label.id,
        "search": search.id,
        "pool": group.id,
    }
    return {kind: OutputList(kind, numbers.get(kind, 0)) for kind in OutputListKind}, ids


async def test_every_list_is_read_completely_page_by_page(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice = await library.person("alice")
    who = Caller(alice, alice.scopes)
    lists, ids = await _lists(any_db, alice, library)

    for kind, wanted in lists.items():
        found: list[int] = []
        cursor = None
        while page := await find_list_page(any_db, who, wanted, cursor, 3, NOW):
            found += [position.entry_id for position in page]
            cursor = page[-1].cursor

        # What a filter matched is there after the end of a subscription, but it is not read.
        assert [id for id in found if id in ids] == ids[::-1], kind
        assert found == ids[::-1] or kind is OutputListKind.FILTER


@pytest.mark.parametrize(("few", "longest"), [(0, 200_000), (0, 5), (0, 0), (100, 0)])
async def test_arrivals_are_found_by_every_way(
    any_db: Database, monkeypatch: pytest.MonkeyPatch, few: int, longest: int
) -> None:
    """Walking all ids, walking some of them and then reading those of the feeds, and reading them at once."""
    monkeypatch.setattr(arrivals, "FEW_ENTRIES", few)
    monkeypatch.setattr(arrivals, "LONGEST_WALK", longest)
    library = SmallLibrary(any_db)
    alice, others = await library.person("alice"), await library.feed("others")
    rare = [await library.feed(name) for name in ("one", "two")]
    ids = [await library.subscribe(alice, feed) for feed in rare]
    expected = [await library.arrive(feed, "a") for feed in rare]
    await library.arrive(others, *(f"entry {number}" for number in range(12)))
    expected += [await library.arrive(rare[0], "b")]
    await any_db.batch([Step(feeds.update().values(entry_count=10))])
    newest_first = [id for [id] in expected[::-1]]

    for scope, wanted in ((EntryScope(), newest_first), (EntryScope((ids[0],)), [newest_first[0], newest_first[2]])):
        found: list[int] = []
        while page := await arrivals.newest_arrivals(any_db, alice.id, scope, min(found, default=MAX_ID), 1):
            found += page

        assert found == wanted


async def test_every_list_is_offered_and_can_be_opened(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice = await library.person("alice")
    who = Caller(alice, alice.scopes)
    lists, _ = await _lists(any_db, alice, library)

    offered = {each.list for each in await available_lists(any_db, who)}
    for wanted in lists.values():
        secret, made = await create_output_feed(any_db, who, wanted, None, NOW)
        owner, feed = await open_output_feed(any_db, secret, RequestOrigin(), NOW)
        page = await read_output_page(any_db, owner, feed, None, 50, NOW)
        _, known = await open_output_feed(any_db, secret, RequestOrigin(), NOW)
        again = await read_output_page(any_db, owner, known, None, 50, NOW + HOUR)

        assert feed.id == made.id
        assert [text.title for text in page.texts] == TITLES[::-1]
        assert (page.digest, page.changed_at) == (again.digest, again.changed_at)

    # Single feeds may be thousands, and are chosen on their own pages.
    assert offered == set(lists.values()) - {lists[OutputListKind.FEED]}


@pytest.mark.parametrize(
    "name",
    ["", "folder", "folder/", "folder/0", "folder/01", "folder/-1", "folder/1/", "all/1", "unread", "folder/9" * 9],
)
def test_other_names_are_no_list(name: str) -> None:
    assert parse_output_list(name) is None


async def test_what_a_filter_hides_is_left_out_of_lists_that_nobody_chose_it_for(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice = await library.person("alice")
    who = Caller(alice, alice.scopes)
    lists, ids = await _lists(any_db, alice, library)
    row = {"user_id": alice.id, "action": FilterAction.HIDE, "entry_id": ids[3], "target_id": 0, "at": to_iso(NOW)}
    row |= {"filter_id": lists[OutputListKind.FILTER].id}
    await any_db.batch([Step(insert(filter_effects, *row), row)])

    shown = {}
    for kind, wanted in lists.items():
        _, feed = await create_output_feed(any_db, who, wanted, None, NOW)
        page = await read_output_page(any_db, who, feed, None, 50, NOW)
        shown[kind] = ids[3] in [text.id for text in page.texts]

    assert {kind for kind, is_shown in shown.items() if not is_shown} == {"all", "feed", "folder"}


def test_a_list_is_found_by_its_name() -> None:
    lists = [OutputList(OutputListKind.ALL), OutputList(OutputListKind.FOLDER, 3)]

    assert [parse_output_list(each.name) for each in lists] == lists
