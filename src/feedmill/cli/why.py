"""`feedmill why`: explain when a feed is fetched next, and why."""

from datetime import UTC, datetime, timedelta
from typing import Any

import click

from feedmill.cli.actions.complete_names import complete_feed
from feedmill.cli.actions.find_feed import find_feed
from feedmill.cli.output.json_records import feed_record, fetch_record, print_record
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.collect.scheduling.explain_schedule import explain_schedule
from feedmill.model.refresh import FetchLogLine
from feedmill.store.database import Database
from feedmill.store.feeds.fetch_log import latest_fetches, tally_fetches
from feedmill.store.feeds.url_history import former_urls_of_feed

LOG_DAYS = timedelta(days=30)


@click.command()
@click.argument("feed", shell_complete=complete_feed)
@click.option("--log", "lines", default=5, show_default=True, metavar="N", help="How many fetches to list.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def why(context: Context, feed: str, lines: int, as_json: bool) -> None:
    """Explain when FEED (an id or a URL) is fetched next, and why."""
    explanation = run_with_database(context.quiet_settings, lambda db: _explain(db, feed, max(lines, 1)))
    if as_json:
        fetches = [fetch_record(fetch) for fetch in explanation["fetches"]]
        print_record(explanation["feed"] | {"sentences": explanation["sentences"], "fetches": fetches})
        return
    print_text(_heading(explanation["feed"]), bold=True)
    for sentence in explanation["sentences"]:
        print_text(f"  {sentence}")
    if explanation["fetches"]:
        print_text("  The last fetches:")
    for fetch in explanation["fetches"][:lines]:
        print_text(f"    {_line(fetch)}")


async def _explain(db: Database, name: str, lines: int) -> dict[str, Any]:
    now = datetime.now(UTC)
    feed = await find_feed(db, name)
    fetches = await latest_fetches(db, feed.id, lines)
    tally = await tally_fetches(db, feed.id, now - LOG_DAYS)
    sentences = explain_schedule(feed, fetches, tally, await former_urls_of_feed(db, feed.id), now)
    return {"feed": feed_record(feed, now), "sentences": [str(sentence) for sentence in sentences], "fetches": fetches}


def _heading(feed: dict[str, Any]) -> str:
    where = f", {feed['url']}" if feed["title"] != feed["url"] else ""
    return f"{feed['title']} (feed {feed['id']}{where})"


def _line(fetch: FetchLogLine) -> str:
    status = f"HTTP {fetch.http_status}" if fetch.http_status else ""
    new = f"{fetch.new_entries} new" if fetch.new_entries else ""
    parts = (
        f"{fetch.at:%Y-%m-%d %H:%M:%S}",
        f"{fetch.outcome:<12}",
        status,
        new,
        f"{fetch.ms} ms",
        str(fetch.message or ""),
    )
    return "  ".join(part for part in parts if part)
