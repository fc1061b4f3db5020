"""Searching on each of the four databases: the results, their order, and that the index is kept up to date."""

from collections.abc import Iterable
from datetime import timedelta
from random import Random

import pytest
from sqlalchemy import select, text

from feedmill.library.entries.marks import apply_marks
from feedmill.model.entry_lists import ListPosition
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.refresh import Revision
from feedmill.model.search_query import (
    And,
    DateRange,
    HasLabel,
    HasMedia,
    HasState,
    InFeeds,
    InLanguage,
    Not,
    Or,
    SearchCondition,
    TextMatch,
)
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.admin.maintenance_tasks import INDEX_ENTRIES, schedule_maintenance_task, take_maintenance_task
from feedmill.store.archive.database_load import begin_loading, end_loading
from feedmill.store.archive.retention import drop_expired_entries
from feedmill.store.database import Database, Step
from feedmill.store.entries.add_entries import steps_to_add_revisions
from feedmill.store.entries.labels import add_label
from feedmill.store.feeds.lifecycle import remove_feed
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.schema import entries, feeds
from feedmill.store.search.find_entries import find_best_matches, find_newest_matches
from feedmill.store.search.index_completeness import is_index_incomplete
from feedmill.store.search.index_missing_entries import index_missing_entries
from feedmill.store.search.index_table import search_texts
from feedmill.store.search.tokenizer import query_words, site_word
from tests.library.small_library import DAY, HOUR, NOW, SmallLibrary

CHINESE = "人工智能芯片"


async def a_shelf(db: Database) -> tuple[SmallLibrary, User, int]:
    """Alice and a feed of hers."""
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    return library, alice, feed


def words(said: str, scope: str = "any", prefix: bool = False) -> TextMatch:
    cut, goes_on = query_words(said)
    return TextMatch(cut, scope, prefix or goes_on)  # type: ignore[arg-type]


async def newest(
    db: Database, user: User, condition: SearchCondition, most: int = 50, below: ListPosition | None = None
) -> list[str]:
    return await _titles(db, await find_newest_matches(db, condition, user.id, most, below))


async def best(db: Database, user: User, condition: SearchCondition, most: int = 50, skipped: int = 0) -> list[str]:
    return await _titles(db, await find_best_matches(db, condition, user.id, most, skipped))


async def _titles(db: Database, ids: Iterable[int]) -> list[str]:
    rows = await db.query(select(entries.c.id, entries.c.title))
    titles = {row["id"]: row["title"] for row in rows}
    return [titles[id] for id in ids]


async def test_words_phrases_prefixes_and_scopes_match(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    await library.arrive(feed, "Cat and dog", author="Ann Lee", content_html="<p>The quick brown fox</p>")
    await library.arrive(feed, "Fox news", author="Fox Mulder", content_html="a brown quick cat, the end of it")
    await library.arrive(feed, CHINESE, content_html="今天的新闻：我们去公园", link="https://zh.example.com/x")
    cat, fox = "Cat and dog", "Fox news"
    expected: list[tuple[SearchCondition, list[str]]] = [
        (words("CAT"), [fox, cat]),
        (words("the"), [fox, cat]),
        (words("cat", "title"), [cat]),
        (words("cat", "text"), [fox]),
        (words("fox", "author"), [fox]),
        (words("quick brown"), [cat]),
        (words("brown quick"), [fox]),
        (words("mul", prefix=True), [fox]),
        (words("brown qu", prefix=True), [fox] if any_db.dialect_name != "mysql" else [fox, cat]),
        (words("mul"), []),
        (words("芯片"), [CHINESE]),
        (words("能芯"), [CHINESE]),
        (words("智能芯片"), [CHINESE]),
        (words("芯能"), []),
        (words("人工芯片"), []),
        (words("片"), [CHINESE]),
        (words("园"), [CHINESE]),
        (words("新闻", "text"), [CHINESE]),
        (words("新闻", "title"), []),
        (TextMatch((site_word("example.com"),)), [CHINESE]),
        (And((words("cat"), words("dog"))), [cat]),
        (And((words("cat"), Not(words("dog")))), [fox]),
        (Or((words("dog"), words("芯片"))), [CHINESE, cat]),
        (And((Or((words("dog"), words("mulder"))), Not(Or((words("lee"), words("芯片")))))), [fox]),
        (Not(words("cat")), [CHINESE]),
        (Or((words("dog"), HasState("starred"))), [cat]),
        (And((words("cat"), Not(HasState("starred")))), [fox, cat]),
    ]

    found = [(condition, await newest(any_db, alice, condition)) for condition, _ in expected]

    assert found == expected
    assert [sorted(await best(any_db, alice, condition)) for condition, _ in expected] == [
        sorted(titles) for _, titles in expected
    ]


async def test_a_phrase_does_not_reach_from_one_field_into_the_next(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    await library.arrive(feed, "one two", author="three", content_html="four five", link=None)

    assert await newest(any_db, alice, words("one two")) == ["one two"]
    assert await newest(any_db, alice, words("two three")) == []
    assert await newest(any_db, alice, words("three four")) == []
    assert await newest(any_db, alice, words("two", "author")) == []
    assert await newest(any_db, alice, words("four", "title")) == []


async def test_a_phrase_that_must_not_occur_excludes_no_more_than_itself(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    await library.arrive(feed, "a", content_html="cat old dog")
    await library.arrive(feed, "b", content_html="cat dog old")
    await library.arrive(feed, "old", content_html="cat dog")

    assert await newest(any_db, alice, And((words("cat"), Not(words("old dog"))))) == ["old", "b"]
    assert await newest(any_db, alice, And((words("cat"), Not(words("old", "text"))))) == ["old"]
    assert await newest(any_db, alice, And((words("cat"), Not(Or((words("old"), words("x"))))))) == []
    assert await newest(any_db, alice, And((words("cat"), Not(And((words("old"), words("dog", "title"))))))) == [
        "old",
        "b",
        "a",
    ]


async def test_a_phrase_is_found_at_the_end_of_a_long_text(db: Database) -> None:
    library, alice, feed = await a_shelf(db)
    await library.arrive(feed, "long", content_html=f"{'a b ' * 12_000} grey heron")

    assert await newest(db, alice, words("grey heron")) == ["long"]
    assert await newest(db, alice, words("heron grey")) == []


async def test_the_more_often_a_text_has_a_word_the_better_it_matches(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    filler = "some other words that stand in the text of every one of these entries"
    await library.arrive(feed, "three", content_html=f"heron {filler} heron {filler} heron")
    await library.arrive(feed, "once", content_html=f"{filler} heron {filler} {filler} other")
    await library.arrive(feed, *(f"Not about them {n}" for n in range(20)), content_html=filler)

    assert await best(any_db, alice, words("heron")) == ["three", "once"]
    assert await best(any_db, alice, Or((words("heron"), words("absent")))) == ["three", "once"]


async def test_a_title_weighs_more_than_a_feed_name_and_that_more_than_a_text(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    filler = "some other words that stand in the text of every one of these entries " * 3
    await library.arrive(feed, "Gnus at last", content_html=filler, author="Someone")
    await library.arrive(feed, "By them", content_html=filler, author="Gnus Herd")
    await library.arrive(feed, "Of them", content_html=f"{filler} gnus", author="Someone")
    await library.arrive(feed, *(f"Not about them {n}" for n in range(20)), content_html=filler)

    ranked = await best(any_db, alice, words("gnus"))

    if any_db.dialect_name == "mysql":
        # Its index has no weights.
        assert set(ranked) == {"Gnus at last", "By them", "Of them"}
    else:
        assert ranked == ["Gnus at last", "By them", "Of them"]
    assert await best(any_db, alice, words("gnus"), most=1, skipped=1) == ranked[1:2]


async def test_conditions_match(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    other = await library.feed("other")
    await library.subscribe(alice, other)
    audio = (Enclosure("https://example.org/a.mp3", "audio/mpeg"),)
    [a] = await library.arrive(feed, "a", at=NOW - 10 * DAY, language="en-GB", enclosures=audio)
    [b] = await library.arrive(feed, "b", at=NOW - 2 * DAY, image_url="https://example.org/b.png")
    await library.arrive(other, "c", at=NOW - DAY, language="de")
    label = (await add_label(any_db, alice.id, "red")).id
    await apply_marks(any_db, alice.id, [a], EntryMarks(read=True, starred=True), NOW)
    await apply_marks(any_db, alice.id, [b], EntryMarks(later=True, add_labels=(label,)), NOW)
    await any_db.batch([Step(feeds.update().where(feeds.c.id == feed).values(language="en"))])
    expected: list[tuple[SearchCondition, str]] = [
        (HasState("unread"), "cb"),
        (HasState("read"), "a"),
        (HasState("starred"), "a"),
        (HasState("later"), "b"),
        (HasState("archived"), ""),
        (HasMedia("audio"), "a"),
        (HasMedia("enclosure"), "a"),
        (HasMedia("video"), ""),
        (HasMedia("image"), "b"),
        (Not(HasMedia("audio")), "cb"),
        (Not(HasMedia("image")), "ca"),
        (DateRange(since=NOW - 3 * DAY), "cb"),
        (DateRange(until=NOW - 2 * DAY), "a"),
        (DateRange(NOW - 2 * DAY, NOW - DAY), "b"),
        (InLanguage("en"), "ba"),
        (InLanguage("en-gb"), "a"),
        (Not(InLanguage("en")), "c"),
        (InFeeds((other,)), "c"),
        (InFeeds(()), ""),
        (HasLabel((label,)), "b"),
        (Not(HasLabel((label,))), "ca"),
        (Or((HasState("starred"), HasLabel((label,)))), "ba"),
        (And((words("b"), HasState("later"))), "b"),
        (And((words("b"), HasState("starred"))), ""),
        (And((words("a"), InFeeds((feed,)))), "a"),
    ]

    found = [(condition, "".join(await newest(any_db, alice, condition))) for condition, _ in expected]

    assert found == expected
    assert [sorted(await best(any_db, alice, condition)) for condition, _ in expected] == [
        sorted(titles) for _, titles in expected
    ]


async def test_a_search_finds_only_entries_that_the_user_can_see(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    bob, charlie = await library.person("bob"), await library.person("charlie")
    _, starred, later, labelled = await library.arrive(feed, "one", "two", "three", "four", content_html="secret")
    label = (await add_label(any_db, alice.id, "red")).id
    subscribed = await library.subscribe(bob, feed)
    label_of_bob = (await add_label(any_db, bob.id, "red")).id
    await apply_marks(any_db, bob.id, [starred], EntryMarks(starred=True, read=True), NOW)
    await apply_marks(any_db, bob.id, [later], EntryMarks(later=True), NOW)
    await apply_marks(any_db, bob.id, [labelled], EntryMarks(add_labels=(label_of_bob,)), NOW)
    await any_db.batch([Step(text(f"DELETE FROM subscriptions WHERE id = {subscribed}"))])

    assert len(await newest(any_db, alice, words("secret"))) == 4
    assert await newest(any_db, alice, HasState("starred")) == []
    assert await newest(any_db, alice, HasLabel((label,))) == []
    assert set(await newest(any_db, bob, words("secret"))) == {"two", "three", "four"}
    for asked_for in (words("secret"), Not(words("x")), HasState("read"), InFeeds((feed,)), HasLabel((label,))):
        assert await newest(any_db, charlie, asked_for) == []
        assert await best(any_db, charlie, asked_for) == []


async def test_pages_by_date_neither_repeat_nor_skip(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    for second in range(5):
        at = NOW - HOUR + timedelta(seconds=second)
        titles = [f"{second} {number}" for number in range(3)]
        # Earlier ids have later milliseconds.
        for number, title in enumerate(titles):
            await library.arrive(feed, title, at=at - timedelta(milliseconds=-900 + number), content_html="x")
    walked, below = list[str](), None

    while page := await newest(any_db, alice, words("x"), most=4, below=below):
        walked += page
        [last] = await any_db.query(select(entries.c.id, entries.c.sort_at).where(entries.c.title == page[-1]))
        below = ListPosition(last["sort_at"], last["id"])

    assert walked == [f"{second} {number}" for second in (4, 3, 2, 1, 0) for number in (2, 1, 0)]


async def test_a_search_finds_the_newest_text(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    [entry, _] = await library.arrive(feed, "first", "other")
    second = Revision(entry, 1, "new", "https://example.org/", "second", "ann", None, "<p>changed</p>")

    await any_db.batch(steps_to_add_revisions([second], to_iso(NOW)))

    assert await newest(any_db, alice, words("first")) == []
    assert await newest(any_db, alice, words("changed")) == ["first"]
    assert await newest(any_db, alice, words("second", "title")) == ["first"]


async def test_deleted_entries_are_not_found_any_more(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    gone = await library.feed("gone")
    await library.subscribe(alice, gone)
    await library.arrive(feed, "old", "kept", content_html="x")
    await library.arrive(gone, "of a feed that goes", content_html="x")
    old = entries.update().where(entries.c.title == "old").values(in_feed=0, last_seen_at=to_iso(NOW - 300 * DAY))
    await any_db.batch([Step(old)])

    await drop_expired_entries(any_db, 180 * DAY, NOW)
    await remove_feed(any_db, gone, NOW)

    assert await newest(any_db, alice, words("x")) == ["kept"]
    assert len(await any_db.query(select(search_texts.c.entry_id))) == 1
    await _check_index(any_db)


async def test_an_entry_that_an_admin_moved_is_found_in_its_new_feed(db: Database) -> None:
    library, alice, source = await a_shelf(db)
    target = await library.feed("target")
    await library.arrive(source, "twin", "single", content_html="x")
    await library.arrive(target, "twin", content_html="x")

    merge = Merge(source, "https://a.example.org/", target, "https://b.example.org/", move_up_to=2**40)
    await merge_feeds(db, merge, NOW)

    assert sorted(await newest(db, alice, And((words("x"), InFeeds((target,)))))) == ["single", "twin"]


async def test_entries_without_an_index_are_indexed_in_chunks_by_their_newest_text(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    await library.arrive(feed, *(f"before {number}" for number in range(60)))
    [revised, deleted] = await library.arrive(feed, "revised", "deleted")
    second = Revision(revised, 1, "new", None, "second", None, None, "changed")
    await any_db.batch(steps_to_add_revisions([second], to_iso(NOW)))
    await any_db.batch([Step(text("DELETE FROM search_texts")), Step(entries.delete().where(entries.c.id == deleted))])
    assert await newest(any_db, alice, words("before")) == []

    assert await index_missing_entries(any_db) == 61
    assert await index_missing_entries(any_db) == 0

    assert len(await newest(any_db, alice, words("before"), most=100)) == 60
    assert await newest(any_db, alice, words("changed")) == ["revised"]
    assert await newest(any_db, alice, words("before"), most=1) == ["before 59"]
    await _check_index(any_db)


async def test_a_revision_of_an_entry_that_is_not_indexed_yet_is_not_lost(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    [entry] = await library.arrive(feed, "first")
    await any_db.batch([Step(text("DELETE FROM search_texts"))])

    await any_db.batch(steps_to_add_revisions([Revision(entry, 1, "n", None, "t", None, None, "changed")], to_iso(NOW)))
    await index_missing_entries(any_db)

    assert await newest(any_db, alice, words("changed")) == ["first"]
    place = select(search_texts.c.place)
    [row] = await any_db.query(place)
    assert row["place"] // 2**31 == int((NOW - 30 * DAY + HOUR).timestamp())


@pytest.mark.parametrize("content", ["heron", "heron " * 10_000, f"heron {'字典' * 10_000}"])
@pytest.mark.parametrize("summary", ["<img src='heron.png'>", "a", "an accent \u0301 alone"])
async def test_a_summary_beside_the_content_can_be_without_words(any_db: Database, content: str, summary: str) -> None:
    library, alice, feed = await a_shelf(any_db)

    await library.arrive(feed, "x", content_html=content, summary=summary, link="https://birds.example.com/")

    assert await newest(any_db, alice, And((words("heron"), TextMatch((site_word("example.com"),))))) == ["x"]


async def test_long_and_unusual_texts_can_be_stored_and_searched(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    # As many different pairs of four-byte characters as are allowed.
    different = "丁丂" + "".join(map(chr, Random(1).choices(range(0x20000, 0x2A6D0), k=100_000)))
    await library.arrive(
        feed, "long", content_html=different, summary=different, author=different, at=NOW - 70_000 * DAY
    )
    await library.arrive(feed, "odd", content_html="it's a \\ back'slash :* & | <-> ! 1e5abc \u200b 🐢 &#xd800;&#0;")

    assert await newest(any_db, alice, words("丁丂")) == ["long"]
    assert await newest(any_db, alice, words("back'slash")) == ["odd"]
    assert await newest(any_db, alice, words("1e5abc")) == ["odd"]
    assert await newest(any_db, alice, Not(words("zzz"))) == ["odd", "long"]


async def _check_index(db: Database) -> None:
    """Lets FTS5 compare its index with the texts."""
    if db.dialect_name == "sqlite":
        await db.batch([Step(text("INSERT INTO search_index(search_index) VALUES ('integrity-check')"))])


async def test_restored_entries_are_indexed_at_the_next_check(db: Database) -> None:
    due = await take_maintenance_task(db, INDEX_ENTRIES, NOW, HOUR, DAY)
    assert due is not None
    await schedule_maintenance_task(db, INDEX_ENTRIES, due, NOW + DAY)
    assert await take_maintenance_task(db, INDEX_ENTRIES, NOW + HOUR, HOUR, DAY) is None

    await begin_loading(db, "a backup")
    is_incomplete = await is_index_incomplete(db)
    await end_loading(db)

    assert (is_incomplete, await is_index_incomplete(db)) == (True, True)

    assert await take_maintenance_task(db, INDEX_ENTRIES, NOW + HOUR, HOUR, DAY) is not None
