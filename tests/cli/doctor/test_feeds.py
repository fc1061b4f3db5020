"""Findings about feeds, our own network and the feeds file."""

from pathlib import Path

from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.schema import fetch_log
from tests.cli.doctor.findings_of import NOW, findings_of, insert, is_error, is_warning


async def test_healthy_feeds_are_fine(settings: Settings, db: Database) -> None:
    await add_feed(db, "https://example.org/feed", NOW)

    assert "feeds_ok" in await findings_of(settings)


async def test_feeds_that_failed_ten_times_are_a_warning(settings: Settings, db: Database) -> None:
    feed = await add_feed(db, "https://example.org/feed", NOW)
    await db.exec(f"UPDATE feeds SET status = 'error' WHERE id = {feed.id}")

    assert is_warning(await findings_of(settings), "feeds_failing", "1 feed", "feedmill feeds --state error")


async def test_a_network_that_reaches_nobody_is_an_error_and_one_host_away_is_not(
    settings: Settings, db: Database
) -> None:
    urls = [f"https://{name}.example/feed" for name in "abcdef"]
    for url in urls[:4]:
        feed = await add_feed(db, url, NOW)
        await insert(db, fetch_log, feed_id=feed.id, at=NOW, outcome="dns")
    few = await findings_of(settings)
    for url in urls[4:]:
        feed = await add_feed(db, url, NOW)
        await insert(db, fetch_log, feed_id=feed.id, at=NOW, outcome="connect")
    down = await findings_of(settings)
    await insert(db, fetch_log, feed_id=1, at=NOW, outcome="updated")
    all_but_one_down = await findings_of(settings)
    await insert(db, fetch_log, feed_id=2, at=NOW, outcome="updated")

    assert "network_down" not in few
    assert is_error(down, "network_down", "6 hosts", "getent hosts a.example")
    assert is_error(all_but_one_down, "network_down", "6 hosts", "getent hosts b.example")
    assert "network_down" not in await findings_of(settings)


async def test_the_feeds_file_is_read_without_applying_it(settings: Settings, db: Database, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("- https://example.org/feed\n")
    bad.write_text("- url: https://example.org/feed\n  every: 2h\n")

    sound = await findings_of(Settings(data=settings.data, feeds_file=good))
    unsound = await findings_of(Settings(data=settings.data, feeds_file=bad))

    assert "declares 1 feed" in str(sound["feeds_file_ok"].text)
    assert is_error(unsound, "feeds_file_invalid", "line 2, column 3: unknown key 'every'")


async def test_a_feeds_file_that_is_gone_is_an_error(settings: Settings, db: Database) -> None:
    await add_feed(db, "https://example.org/feed", NOW, declared=True)

    assert is_error(await findings_of(settings), "feeds_file_missing", "1 feed was declared", "feeds: []")
