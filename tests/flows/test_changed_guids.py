"""A feed that gives its entries other guids brings nothing new, and loses nothing."""

from datetime import datetime

from feedmill.i18n.messages import Message, message_from_stored
from feedmill.model.refresh import Updated
from feedmill.model.timestamps import to_iso
from feedmill.store.schema import entries, fetch_log, revisions, states, tombstones, unread
from tests.flows.refresh_environment import DAY, HOUR, NOW, RefreshEnvironment, answer, item, rss
from tests.scripted_web import Answer

ODD = 'an "odd" \\guid\\ 字 😀 \'; {"$.a": 1}'


def items(guids: str, *, names: str = "abcde", text: str = "text") -> list[str]:
    """An item for each name, with guids that begin so."""
    return [item(name, f"{text} of {name}", NOW - DAY * place, f"{guids}{name}") for place, name in enumerate(names)]


async def test_entries_under_new_guids_are_the_known_ones(
    any_env: RefreshEnvironment, logged: list[dict[str, object]]
) -> None:
    env = any_env
    alice = await env.user("Alice", 11)
    feed = await env.add("/feed", answer(*items("old-")))
    await env.subscribe(alice, feed)
    await env.refresh(feed)
    before = {row["title"]: row["id"] for row in await env.rows(entries)}
    await env.put(states, user_id=alice, entry_id=before["a"], starred_at=to_iso(NOW))

    decision = await env.later(HOUR, feed, answer(item("new", date=NOW), *items(ODD)))

    assert isinstance(decision, Updated)
    assert ([new.title for new in decision.changes.new], decision.changes.overflows) == (["new"], False)
    after = await env.rows(entries)
    assert {row["title"]: row["id"] for row in after if row["title"] != "new"} == before
    assert {row["guid"] for row in after if row["title"] != "new"} == {f"{ODD}{name}" for name in "abcde"}
    assert {row["in_feed"] for row in after} == {1}
    assert len(await env.rows(unread)) == 6
    [line] = await env.rows(fetch_log, new_entries=1)
    assert message_from_stored(line["message"]) == Message("fetch.repeated", n=5)
    [event] = [line for line in logged if line["event"] == "entry_guids_changed"]
    assert (event["entries"], event["feed_id"], event["log_level"]) == (5, feed.id, "info")


async def test_the_next_fetch_finds_them_by_their_new_guids(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(*items("old-")))
    await env.refresh(feed)
    await env.later(HOUR, feed, answer(*items("new-")))

    decision = await env.later(HOUR, feed, answer(*items("new-", text="a later text")))

    assert isinstance(decision, Updated)
    assert (decision.changes.new, decision.changes.changed_guids) == ((), ())
    assert len(await env.rows(revisions)) == 5


async def test_a_text_that_changes_with_the_guid_is_a_revision(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(*items("old-")))
    await env.refresh(feed)

    await env.later(HOUR, feed, answer(*items("new-", text="another text")))

    assert len(await env.rows(entries)) == len(await env.rows(revisions)) == 5


async def test_a_feed_that_changes_its_mind_brings_nothing_new_either(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(*items("old-")))
    await env.refresh(feed)
    await env.later(HOUR, feed, answer(*items("new-")))

    await env.later(HOUR, feed, answer(item("new"), *items("old-")))

    assert sorted(await env.titles()) == ["a", "b", "c", "d", "e", "new"]
    assert {row["guid"] for row in await env.rows(tombstones)} == {f"new-{name}" for name in "abcde"}


async def test_no_episode_of_a_program_is_lost(env: RefreshEnvironment) -> None:
    """One title, one link, one text; another date and another file each hour, and only the newest is in the feed."""

    def episode(at: datetime, number: int) -> str:
        file = f'<enclosure url="https://example.org/{number}.mp3" type="audio/mpeg" length="1"/></item>'
        return item("News", "The news.", at, f"{number}", "https://example.org/news").replace("</item>", file)

    feed = await env.add("/feed", answer(episode(NOW, 0)))
    await env.refresh(feed)

    for number in range(1, 4):
        await env.later(HOUR, feed, answer(episode(NOW + HOUR * number, number)))

    assert await env.titles() == ["News"] * 4


async def test_the_word_of_the_day_is_another_each_day(env: RefreshEnvironment) -> None:
    """One title, one link, no date."""
    feed = await env.add("/feed", answer(item("Word of the day", "ferry", guid="0", link="https://example.org/word")))
    await env.refresh(feed)

    for number, word in enumerate(("bridge", "tram"), 1):
        today = item("Word of the day", word, guid=f"{number}", link="https://example.org/word")
        await env.later(DAY, feed, answer(today))

    assert [row["content_html"] for row in await env.rows(entries)] == ["ferry", "bridge", "tram"]


async def test_an_entry_that_is_still_in_the_feed_is_not_renamed(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(*items("old-")))
    await env.refresh(feed)

    await env.later(HOUR, feed, answer(*items("old-"), *items("new-", names="a")))

    assert sorted(await env.titles()) == ["a", "a", "b", "c", "d", "e"]


async def test_what_a_truncated_document_lacks_is_not_renamed(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(*items("old-")))
    await env.refresh(feed)
    whole = rss(*items("new-", names="a"), *items("old-"))
    cut = whole[: whole.index(b"old-a")]

    await env.later(HOUR, feed, Answer(cut))
    await env.later(HOUR, feed, Answer(whole))

    assert sorted(await env.titles()) == ["a", "a", "b", "c", "d", "e"]


async def test_what_is_announced_again_each_week_is_new(env: RefreshEnvironment) -> None:
    """The same titles, links and texts with other dates, and only those of this week are in the feed."""

    def week(number: int) -> list[str]:
        days = enumerate(("Chess", "Yoga", "Choir", "Judo"))
        return [item(name, "Come!", NOW + DAY * (7 * number + day), f"{number}/{day}") for day, name in days]

    feed = await env.add("/feed", answer(*week(0)))
    await env.refresh(feed)

    await env.later(7 * DAY, feed, answer(*week(1)))

    assert len(await env.titles()) == 8
