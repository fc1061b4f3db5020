"""New entries join the stories of other feeds in the write of their refresh."""

import pytest
from sqlalchemy import func, select

from feedmill.i18n.messages import Message
from feedmill.library.entries.labels import ensure_label
from feedmill.library.entries.marks import apply_marks, mark_all_read
from feedmill.library.filters.manage_filters import create_filter, find_filter
from feedmill.library.stories import find_stories
from feedmill.model.entry_marks import EntryMarks, MarkAllRead
from feedmill.model.filters.entry_filter import FilterActions, FilterDraft, FilterScope, ScopeKind
from feedmill.model.user import SCOPES, Caller, User
from feedmill.store.feeds.fetch_log import latest_fetches
from feedmill.store.schema import entries, entry_labels, states, story_keys, story_sketches
from tests.flows.refresh_environment import DAY, item
from tests.library.stories.story_feeds import StoryFeeds, text_of

BRIDGE = "A bridge opens in Lisbon"


async def test_the_same_article_in_three_feeds_is_one_story(any_stories: StoryFeeds) -> None:
    stories = any_stories
    await stories.add("one", "two", "three")

    for name in ("one", "two", "three"):
        await stories.publish(name, stories.article(name, BRIDGE), stories.article(name, f"Only in {name} today"))

    assert await stories.together() == {frozenset({f"one: {BRIDGE}", f"two: {BRIDGE}", f"three: {BRIDGE}"})}


async def test_a_feed_with_all_the_articles_of_another_one_is_joined(any_stories: StoryFeeds) -> None:
    """In few statements: D1 takes a thousand in a batch."""
    stories = any_stories
    titles = [f"The long article number {number} of the year" for number in range(520)]
    await stories.add("one", "two")

    for name in ("one", "two"):
        await stories.publish(name, *(stories.article(name, title) for title in titles))

    assert len(await stories.together()) == len(titles)


async def test_refreshing_again_adds_nothing(stories: StoryFeeds) -> None:
    await stories.add("one", "two")
    for name in ("one", "two"):
        await stories.publish(name, stories.article(name, BRIDGE))
    before = [await stories.env.rows(table) for table in (story_keys, story_sketches)]

    await stories.publish("two")

    assert [await stories.env.rows(table) for table in (story_keys, story_sketches)] == before


async def test_an_entry_between_two_articles_does_not_join_them(stories: StoryFeeds) -> None:
    """It has the link of one and the text of the other."""
    await stories.add("one", "two", "hostile")
    first, second = "A bridge opens in Lisbon", "A tunnel closes in Bergen"
    await stories.publish("one", stories.article("one", first))

    await stories.publish(
        "hostile",
        item(second, text_of(second), stories.env.now, "h", f"https://one.example.org/{first.replace(' ', '-')}"),
    )
    await stories.publish("two", stories.article("two", second))

    assert all(not {f"one: {first}", f"two: {second}"} <= story for story in await stories.together())


async def test_a_text_that_a_feed_has_under_many_titles_joins_nothing(stories: StoryFeeds) -> None:
    """A template or a paywall, which another feed of the same publisher has too."""
    await stories.add("one", "two")
    text = f"Bridge tunnel ferry {text_of('template')}"
    titles = [f"{word} of the harbour" for word in ("Bridge", "Tunnel", "Ferry")]
    await stories.publish(
        "one", *(item(title, text, stories.env.now, title, f"https://a.org/{title}") for title in titles)
    )

    await stories.publish("two", item("A bridge in Lisbon", text, stories.env.now, "x", "https://b.org/x"))

    assert await stories.together() == set()


async def test_a_story_has_a_limit(stories: StoryFeeds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_stories, "MOST_IN_STORY", 3)
    names = [f"feed{number}" for number in range(4)]
    await stories.add(*names)

    for name in names:
        await stories.publish(name, stories.article(name, BRIDGE))

    assert [len(story) for story in await stories.together()] == [3]


async def test_a_feed_that_repeats_a_title_thousands_of_times_uses_up_no_key(stories: StoryFeeds) -> None:
    await stories.add("hostile", "one", "two")
    repeated = [
        item(BRIDGE, text_of(BRIDGE), stories.env.now, f"{n}", f"https://h.example.org/{n}") for n in range(1200)
    ]

    await stories.publish("hostile", *repeated)
    for name in ("one", "two"):
        await stories.publish(name, stories.article(name, BRIDGE))

    counted = select(func.count().label("n")).select_from(story_keys).group_by(story_keys.c.story_key)
    assert max(row["n"] for row in await stories.env.db.query(counted)) <= find_stories.MOST_PER_KEY_AND_FEED + 2
    assert any({f"one: {BRIDGE}", f"two: {BRIDGE}"} <= story for story in await stories.together())


# --- reading -----------------------------------------------------------------------------------------------


async def _entry_id(stories: StoryFeeds, name: str, title: str) -> int:
    chosen = (entries.c.feed_id == stories.feeds[name].id, entries.c.title == title)
    [row] = await stories.env.db.query(select(entries.c.id).where(*chosen))
    return int(row["id"])


async def test_a_copy_of_a_story_that_was_read_is_not_unread(any_stories: StoryFeeds) -> None:
    stories = any_stories
    alice, bob = [await stories.subscribers.person(name) for name in ("alice", "bob")]
    await stories.add("one", "two", readers=(alice, bob))
    await stories.publish("one", stories.article("one", BRIDGE))
    read = await _entry_id(stories, "one", BRIDGE)
    await apply_marks(stories.env.db, alice.id, [read], EntryMarks(read=True), stories.env.now)

    await stories.publish("two", stories.article("two", BRIDGE), stories.article("two", "Another article of today"))

    assert await stories.subscribers.unread_and_counted(alice) == (1, 1)
    assert await stories.subscribers.unread_and_counted(bob) == (3, 3)


async def test_a_copy_of_a_story_that_was_marked_with_all_is_not_unread(stories: StoryFeeds, alice: User) -> None:
    await stories.add("one", "two", readers=(alice,))
    await stories.publish("one", stories.article("one", BRIDGE))
    await mark_all_read(stories.env.db, alice.id, MarkAllRead(), stories.env.now)

    await stories.publish("two", stories.article("two", BRIDGE))

    assert await stories.subscribers.unread_and_counted(alice) == (0, 0)


async def test_a_copy_is_unread_while_another_one_is(stories: StoryFeeds, alice: User) -> None:
    await stories.add("one", "two", "three", readers=(alice,))
    for name in ("one", "two"):
        await stories.publish(name, stories.article(name, BRIDGE))
    read = await _entry_id(stories, "one", BRIDGE)
    await apply_marks(stories.env.db, alice.id, [read], EntryMarks(read=True), stories.env.now)

    await stories.publish("three", stories.article("three", BRIDGE))

    assert await stories.subscribers.unread_and_counted(alice) == (2, 2)


async def test_what_another_user_read_stays_unread(stories: StoryFeeds, alice: User, bob: User) -> None:
    """Bob reads a feed that Alice does not have."""
    await stories.add("private", readers=(bob,))
    await stories.add("two", readers=(alice, bob))
    await stories.publish("private", stories.article("private", BRIDGE))
    read = await _entry_id(stories, "private", BRIDGE)
    await apply_marks(stories.env.db, bob.id, [read], EntryMarks(read=True), stories.env.now)

    await stories.publish("two", stories.article("two", BRIDGE))

    assert await stories.subscribers.unread_and_counted(alice) == (1, 1)
    assert await stories.subscribers.unread_and_counted(bob) == (0, 0)


async def test_a_copy_that_a_filter_hid_hides_no_other(stories: StoryFeeds, alice: User) -> None:
    await stories.add("one", "two", readers=(alice,))
    [mine, _] = await stories.subscribers.mine(alice)
    await stories.subscribers.settle(alice, mine, block_rules="bridge")
    await stories.publish("one", stories.article("one", BRIDGE))
    assert await stories.subscribers.unread_and_counted(alice) == (0, 0)

    await stories.publish("two", stories.article("two", BRIDGE))

    assert await stories.subscribers.unread_and_counted(alice) == (1, 1)


async def test_a_copy_that_a_filter_marked_as_read_keeps_no_other_from_being_unread(any_stories: StoryFeeds) -> None:
    stories = any_stories
    alice = await stories.subscribers.person("alice")
    await stories.add("one", "two", readers=(alice,))
    [mine, _] = await stories.subscribers.mine(alice)
    of_feed, actions = FilterScope(ScopeKind.FEED, mine.id), FilterActions(read=True)
    draft = FilterDraft("Bridges", "bridge", of_feed, actions)
    await create_filter(stories.env.db, Caller(alice, frozenset(SCOPES)), draft, stories.env.now)
    await stories.publish("one", stories.article("one", BRIDGE))
    assert await stories.subscribers.unread_and_counted(alice) == (0, 0)

    await stories.publish("two", stories.article("two", BRIDGE))

    assert await stories.subscribers.unread_and_counted(alice) == (1, 1)


async def test_a_copy_that_is_read_and_that_a_filter_hides_is_uncounted_once(stories: StoryFeeds, alice: User) -> None:
    await stories.add("one", "two", readers=(alice,))
    [_, mine] = await stories.subscribers.mine(alice)
    await stories.subscribers.settle(alice, mine, block_rules="bridge")
    await stories.publish("one", stories.article("one", BRIDGE))
    read = await _entry_id(stories, "one", BRIDGE)
    await apply_marks(stories.env.db, alice.id, [read], EntryMarks(read=True), stories.env.now)

    await stories.publish("two", stories.article("two", BRIDGE), stories.article("two", "Another article of today"))

    assert await stories.subscribers.unread_and_counted(alice) == (1, 1)


async def test_a_new_subscriber_of_a_feed_has_its_stories_read_that_were_read_elsewhere(
    any_stories: StoryFeeds,
) -> None:
    stories = any_stories
    alice, bob = [await stories.subscribers.person(name) for name in ("alice", "bob")]
    await stories.add("one", readers=(alice, bob))
    await stories.add("two", readers=(bob,))
    for name in ("one", "two"):
        await stories.publish(name, stories.article(name, BRIDGE), stories.article(name, f"Only in {name} today"))
    read = await _entry_id(stories, "one", BRIDGE)
    await apply_marks(stories.env.db, alice.id, [read], EntryMarks(read=True), stories.env.now)

    await stories.subscribers.subscribe(alice, stories.feeds["two"].url)

    assert await stories.subscribers.unread_and_counted(alice) == (2, 2)


# --- a feed that changes its ids ----------------------------------------------------------------------------


async def test_a_feed_that_changes_its_ids_makes_nothing_unread_again(any_stories: StoryFeeds) -> None:
    stories = any_stories
    alice = await stories.subscribers.person("alice")
    await stories.add("one", readers=(alice,))
    titles = [f"Article number {number} of the feed" for number in range(5)]
    old = [stories.article("one", title) for title in titles]
    await stories.publish("one", *old)
    await mark_all_read(stories.env.db, alice.id, MarkAllRead(), stories.env.now)
    new = [each.replace("one/Article", "new/Article") for each in old]

    stories.env.now += 40 * DAY
    await stories.replace("one", stories.article("one", "A new article"), *new)

    assert await stories.subscribers.unread_and_counted(alice) == (1, 1)
    [line, *_] = await latest_fetches(stories.env.db, stories.feeds["one"].id, 1)
    assert line.message == Message("fetch.repeated", n=5)


async def test_entries_without_dates_that_come_again_are_not_unread(stories: StoryFeeds, alice: User) -> None:
    await stories.add("one", readers=(alice,))
    await stories.publish("one", item(BRIDGE, text_of(BRIDGE), None, "old"))
    await mark_all_read(stories.env.db, alice.id, MarkAllRead(), stories.env.now)

    stories.env.now += 40 * DAY
    await stories.replace("one", item(BRIDGE, text_of(BRIDGE), None, "new"))

    assert await stories.subscribers.unread_and_counted(alice) == (0, 0)


async def test_the_same_words_at_another_time_are_new(stories: StoryFeeds, alice: User) -> None:
    """News of the hour: the same title and text, each time with another recording."""
    await stories.add("one", readers=(alice,))

    for hour in range(3):
        await stories.replace("one", item("News of the hour", text_of("News"), stories.env.now, f"{hour}", None))

    assert await stories.subscribers.unread_and_counted(alice) == (3, 3)


async def test_a_program_with_the_same_words_is_new_to_who_has_read_the_last_one(
    stories: StoryFeeds, alice: User
) -> None:
    await stories.add("one", readers=(alice,))
    text = text_of("The long notes of each episode") * 2

    for hour in range(3):
        await mark_all_read(stories.env.db, alice.id, MarkAllRead(), stories.env.now)
        await stories.publish("one", item("News of the hour", text, stories.env.now, f"{hour}", None))

        assert await stories.subscribers.unread_and_counted(alice) == (1, 1)


async def test_entries_that_are_in_a_feed_together_are_all_unread(any_stories: StoryFeeds) -> None:
    """Two jobs with one title and almost one text, at the same date: the first two come in one document."""
    stories = any_stories
    alice = await stories.subscribers.person("alice")
    await stories.add("one", readers=(alice,))
    title, now = "Senior software engineer", stories.env.now
    jobs = [item(title, text_of(title) * 2, now, city, f"https://one.example.org/{city}") for city in ("1", "2", "3")]

    await stories.publish("one", *jobs[:2])
    await stories.publish("one", jobs[2])

    assert await stories.subscribers.unread_and_counted(alice) == (3, 3)


async def test_an_article_that_a_feed_has_under_another_guid_and_link_now_is_not_unread(
    stories: StoryFeeds, alice: User
) -> None:
    await stories.add("one", readers=(alice,))
    title, now = "A bridge is closed for a year", stories.env.now
    old, new = [item(title, text_of(title) * 2, now, guid, f"https://one.example.org/{guid}") for guid in ("1", "2")]
    await stories.publish("one", old)
    await mark_all_read(stories.env.db, alice.id, MarkAllRead(), stories.env.now)

    await stories.replace("one", new)

    assert await stories.subscribers.unread_and_counted(alice) == (0, 0)


async def test_filters_do_not_act_again_on_an_article_that_its_feed_has_under_another_guid_and_link_now(
    any_stories: StoryFeeds,
) -> None:
    stories = any_stories
    alice = await stories.subscribers.person("alice")
    await stories.add("one", readers=(alice,))
    [mine] = await stories.subscribers.mine(alice)
    label = await ensure_label(stories.env.db, alice.id, "news")
    await stories.subscribers.settle(alice, mine, label_ids=(label,))
    draft = FilterDraft("Bridges", "bridge", actions=FilterActions(star=True))
    own = await create_filter(stories.env.db, Caller(alice, frozenset(SCOPES)), draft, stories.env.now)
    title, now = "A bridge is closed for a year", stories.env.now
    old, new = [item(title, text_of(title) * 2, now, guid, f"https://one.example.org/{guid}") for guid in ("1", "2")]
    await stories.publish("one", old)

    await stories.replace("one", new, stories.article("one", "Another bridge is opened today"))

    assert (await find_filter(stories.env.db, alice.id, own.id)).hit_count == 2
    starred = [row for row in await stories.env.rows(states, user_id=alice.id) if row["starred_at"]]
    assert len(starred) == len(await stories.env.rows(entry_labels)) == 2
    assert len(await stories.env.rows(entries)) == 3


async def test_an_article_under_another_guid_and_link_is_not_unread_after_a_gap_either(
    any_stories: StoryFeeds,
) -> None:
    stories = any_stories
    alice = await stories.subscribers.person("alice")
    await stories.add("one", readers=(alice,))
    title, now = "A bridge is closed for a year", stories.env.now
    old, new = [item(title, text_of(title) * 2, now, guid, f"https://one.example.org/{guid}") for guid in ("1", "2")]
    await stories.publish("one", old)
    await mark_all_read(stories.env.db, alice.id, MarkAllRead(), stories.env.now)
    await stories.replace("one")

    await stories.replace("one", new)

    assert await stories.subscribers.unread_and_counted(alice) == (0, 0)
