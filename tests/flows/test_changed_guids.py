"""A feed that gives its entries other guids brings nothing new, and loses nothing."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Executable

from feedmill.i18n.messages import Message, message_from_stored
from feedmill.model.refresh import Updated
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Row, Step
from feedmill.store.entries import known_entries
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


@pytest.mark.parametrize("meanwhile", [(), (item("Hello world", "Edit this."),)], ids=["nothing", "a greeting"])
async def test_a_feed_that_is_empty_during_a_move_brings_nothing_new_after_it(
    any_env: RefreshEnvironment, meanwhile: tuple[str, ...]
) -> None:
    env = any_env
    alice = await env.user("Alice", 11)
    feed = await env.add("/feed", answer(*items("old-")))
    await env.subscribe(alice, feed)
    await env.refresh(feed)
    await env.later(HOUR, feed, answer(*meanwhile))
    before = {row["title"]: row["id"] for row in await env.rows(entries)}
    await env.db.batch([Step(unread.delete())])

    decision = await env.later(DAY, feed, answer(item("new", date=NOW), *meanwhile, *items("new-", text="new text")))

    assert isinstance(decision, Updated)
    assert [new.title for new in decision.changes.new] == ["new"]
    after = await env.rows(entries)
    assert {row["title"]: row["id"] for row in after if row["title"] != "new"} == before
    assert {row["guid"] for row in after if row["title"] in "abcde"} == {f"new-{name}" for name in "abcde"}
    assert {row["in_feed"] for row in after} == {1}
    assert len(await env.rows(unread)) == 1
    assert len(await env.rows(revisions)) == 5


async def test_a_column_with_the_same_title_and_link_is_new_each_week(env: RefreshEnvironment) -> None:
    """One at a time is in the feed, and in between none."""
    feed = await env.add("/feed", answer())

    for week in range(3):
        day = datetime(2026, 2, 16, tzinfo=UTC) + 7 * DAY * week
        text = f"Of week {week}."
        env.now = day
        await env.later(HOUR, feed, answer(item("Letters", text, day, f"{week}", "https://example.org/letters")))
        await env.later(DAY, feed, answer())

    assert await env.titles() == ["Letters"] * 3


async def test_entries_with_days_for_dates_are_known_under_new_guids_and_in_another_form(
    env: RefreshEnvironment,
) -> None:
    today = datetime(2026, 2, 18, tzinfo=UTC)

    def articles(guids: str, form: str) -> list[str]:
        days = enumerate("abcde")
        return [item(name, form.format(name), today - DAY * place, f"{guids}{name}") for place, name in days]

    feed = await env.add("/feed", answer(*articles("old-", "Text of {}")))
    await env.refresh(feed)

    await env.later(HOUR, feed, answer(*articles("new-", "<p>Text of {}</p>")))

    assert await env.titles() == list("edcba")
    assert len(await env.rows(revisions)) == 5


async def test_a_refresh_without_unknown_guids_looks_for_no_other_entries(
    env: RefreshEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await env.add("/feed", answer(*items("")))
    await env.refresh(feed)
    await env.later(HOUR, feed, answer(*items("", names="ab")))
    asked: list[object] = []
    query = env.db.query

    async def counting(statement: Executable, *given: Any) -> list[Row]:
        asked.append(statement)
        return await query(statement, *given)

    monkeypatch.setattr(env.db, "query", counting)
    await env.later(HOUR, feed, answer(*items("", text="a later text")))
    await env.later(HOUR, feed, answer(item("new", date=env.now), *items("")))

    assert (known_entries.IN_FEED in asked, known_entries.LEFT_SINCE in asked) == (True, False)
