"""Declared feeds from the file to the database and on to the schedule."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from feedmill.collect.declared.sync_feeds import DeclaredFeeds
from feedmill.collect.refresh import refresh_feed
from feedmill.model.feed import Feed
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
from feedmill.store.feeds.claims import claim_due_feeds
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.feeds.read_feeds import all_feeds
from feedmill.store.feeds.record_refresh import ClaimLost
from feedmill.store.schema import entries, feed_urls
from tests.flows.refresh_environment import DAY, HOUR, NOW, RefreshEnvironment, answer, item

URL = "https://example.org/feed"


class FeedsFile:
    """A file of declared feeds, and what applies it to the database."""

    def __init__(self, env: RefreshEnvironment, folder: Path) -> None:
        self.env = env
        self.file = folder / "feeds.yaml"
        self._tick = 0
        self.restart()

    def restart(self) -> None:
        """Forgets what a process knows of the file."""
        folder = self.file.parent
        self.declared = DeclaredFeeds(self.env.db, None, folder, timedelta(minutes=15), clock=lambda: self.env.now)

    async def follow(self, text: str | None = None) -> list[Feed]:
        """Writes the file anew, lets a cycle pass, and gives the feeds that there are then."""
        if text is not None:
            self.file.write_text(text)
            self._tick += 1
            os.utime(self.file, (self._tick, self._tick))
        await self.declared.follow()
        return await all_feeds(self.env.db)


@pytest.fixture
def feeds_file(env: RefreshEnvironment, tmp_path: Path) -> FeedsFile:
    return FeedsFile(env, tmp_path)


async def test_new_feeds_are_added_and_due_at_once(any_env: RefreshEnvironment, tmp_path: Path) -> None:
    feeds_file = FeedsFile(any_env, tmp_path)

    [feed] = await feeds_file.follow(f"- {{url: {URL}, title: Mine, folder: A/B, interval: 2h, archive: none}}")

    assert (feed.url, feed.name, feed.folder, feed.interval) == (URL, "Mine", ("A", "B"), 2 * HOUR)
    assert (feed.archive_policy, feed.declared, feed.added_by_person) == ("none", True, False)
    assert (feed.next_fetch_at, str(feed.next_fetch_why)) == (NOW, "new in feeds.yaml")
    assert [claim.feed.id for claim in await claim_due_feeds(any_env.db, NOW, 10)] == [feed.id]


async def test_a_removed_feed_keeps_its_history_and_rests(any_env: RefreshEnvironment, tmp_path: Path) -> None:
    feeds_file = FeedsFile(any_env, tmp_path)
    url = any_env.web.serve("/feed", answer(item("a")))
    [feed] = await feeds_file.follow(f"- {url}\n")
    await any_env.refresh(feed)

    [rested] = await feeds_file.follow("feeds: []")

    assert (rested.next_fetch_at, rested.declared) == (None, False)
    assert str(rested.next_fetch_why) == "at rest, because it is no longer in feeds.yaml"
    assert len(await any_env.rows(entries)) == 1
    assert await claim_due_feeds(any_env.db, NOW + 30 * DAY, 10) == []


async def test_a_returning_feed_wakes(feeds_file: FeedsFile) -> None:
    await feeds_file.follow(f"- {URL}")
    await feeds_file.follow("[]")

    [feed] = await feeds_file.follow(f"- {URL}")

    assert (feed.next_fetch_at, feed.declared) == (NOW, True)
    assert str(feed.next_fetch_why) == "it is in feeds.yaml again"


async def test_a_feed_that_a_person_added_too_goes_on(feeds_file: FeedsFile) -> None:
    await add_feeds(feeds_file.env.db, [NewFeed(URL, own_title="Theirs")], NOW, NOW + HOUR)

    [declared] = await feeds_file.follow(f"- {{url: {URL}, title: Ours, interval: 1d}}")
    [after] = await feeds_file.follow("[]")

    for feed in (declared, after):
        assert (feed.name, feed.interval, feed.next_fetch_at, feed.added_by_person) == (
            "Theirs",
            None,
            NOW + HOUR,
            True,
        )
    assert (declared.declared, after.declared) == (True, False)


async def test_changed_options_are_applied(feeds_file: FeedsFile) -> None:
    [feed] = await feeds_file.follow(f"- {{url: {URL}, title: One, interval: 1d}}")
    await feeds_file.env.change(
        feed, last_fetched_at="2026-02-18T08:00:00.000Z", next_fetch_at="2026-02-19T08:00:00.000Z"
    )

    [feed] = await feeds_file.follow(f"- {{url: {URL}, title: Two, interval: 1h, folder: X, archive: starred}}")

    assert (feed.name, feed.interval, feed.folder, feed.archive_policy) == ("Two", HOUR, ("X",), "starred")
    assert feed.next_fetch_at == NOW + HOUR / 2
    assert str(feed.next_fetch_why) == "its interval in feeds.yaml was changed"


async def test_a_title_in_the_file_outlives_a_refresh(feeds_file: FeedsFile) -> None:
    url = feeds_file.env.web.serve("/feed", answer(item("a"), title="What the feed says"))
    [feed] = await feeds_file.follow(f"- {{url: '{url}', title: Mine}}")

    await feeds_file.env.refresh(feed)

    after = await feeds_file.env.feed(feed)
    assert (after.name, after.title) == ("Mine", "What the feed says")


async def test_a_broken_file_changes_nothing_and_is_reported_once(feeds_file: FeedsFile, logged: list[Any]) -> None:
    before = await feeds_file.follow(f"- {URL}")

    assert await feeds_file.follow(f"- {URL}2\n- url: [\n") == before
    assert await feeds_file.follow() == before

    told = [line for line in logged if line["log_level"] == "error"]
    assert [line["event"] for line in told] == ["feeds_file_invalid"]
    assert "line 3, column 1" in told[0]["reason"]


async def test_a_file_that_is_mended_counts_again(feeds_file: FeedsFile) -> None:
    await feeds_file.follow("- [")

    assert [feed.url for feed in await feeds_file.follow(f"- {URL}")] == [URL]


async def test_a_file_that_vanished_changes_nothing(feeds_file: FeedsFile, logged: list[Any]) -> None:
    before = await feeds_file.follow(f"- {URL}")
    feeds_file.file.unlink()

    assert await feeds_file.follow() == before
    assert any(line["event"] == "feeds_file_missing" for line in logged)


async def test_a_file_that_is_missing_after_a_restart_is_warned_of_once(
    feeds_file: FeedsFile, logged: list[Any]
) -> None:
    before = await feeds_file.follow(f"- {URL}")
    feeds_file.file.unlink()
    feeds_file.restart()

    assert await feeds_file.follow() == before
    assert await feeds_file.follow() == before

    [line] = [line for line in logged if line["event"] == "feeds_file_missing"]
    assert (line["file"], line["declared_feeds"]) == (f"{feeds_file.file.parent}/feeds.{{yaml,yml,json,toml}}", 1)


async def test_an_installation_that_never_had_a_file_is_not_warned(feeds_file: FeedsFile, logged: list[Any]) -> None:
    await add_feeds(feeds_file.env.db, [NewFeed(URL)], NOW, NOW, None)

    await feeds_file.follow()

    assert not [line for line in logged if line["event"] == "feeds_file_missing"]


async def test_a_file_that_is_named_must_be_there(env: RefreshEnvironment, tmp_path: Path, logged: list[Any]) -> None:
    await DeclaredFeeds(env.db, tmp_path / "mine.yaml", tmp_path, HOUR).follow()

    assert "mine.yaml can't be read: No such file" in logged[0]["reason"]


async def test_an_unchanged_file_is_not_read_again(feeds_file: FeedsFile) -> None:
    [feed] = await feeds_file.follow(f"- {URL}")
    await feeds_file.env.change(feed, own_title="changed by hand")

    [feed] = await feeds_file.follow()

    assert feed.name == "changed by hand"


async def test_a_refresh_that_runs_while_its_feed_is_put_to_rest_does_not_wake_it(feeds_file: FeedsFile) -> None:
    url = feeds_file.env.web.serve("/feed", answer(item("a")))
    [feed] = await feeds_file.follow(f"- {url}")
    claim = await feeds_file.env.claim(feed)

    await feeds_file.follow("[]")
    with pytest.raises(ClaimLost):
        await refresh_feed(feeds_file.env.tools, claim)

    assert (await feeds_file.env.feed(feed)).next_fetch_at is None


async def test_a_feed_that_moved_is_still_declared_by_its_old_address(feeds_file: FeedsFile) -> None:
    [feed] = await feeds_file.follow(f"- {URL}")
    await feeds_file.env.change(feed, url="https://elsewhere.example/feed")
    await feeds_file.env.put(feed_urls, feed_id=feed.id, url=URL, until="2026-02-18T08:30:00.000Z")

    [after] = await feeds_file.follow(f"- {{url: {URL}, title: Still}}")

    assert (after.id, after.url, after.name) == (feed.id, "https://elsewhere.example/feed", "Still")


async def test_urls_lead_to_feeds_also_after_they_moved(any_env: RefreshEnvironment) -> None:
    feed = await any_env.add("/here")
    await any_env.put(feed_urls, feed_id=feed.id, url=URL, until="2026-02-18T08:30:00.000Z")

    found = await feed_ids_by_any_url(any_env.db, [feed.url, URL, "https://example.org/unknown"])

    assert found == {feed.url: feed.id, URL: feed.id}


async def test_the_url_of_a_merged_feed_leads_to_the_one_that_took_it_over(env: RefreshEnvironment) -> None:
    source, target = await env.add("/source"), await env.add("/target")
    await merge_feeds(env.db, Merge(source.id, source.url, target.id, target.url), NOW)

    assert await feed_ids_by_any_url(env.db, [source.url, target.url]) == {
        source.url: target.id,
        target.url: target.id,
    }
