"""`feedmill why`: when a feed is fetched next, and the reasons."""

from datetime import UTC, datetime, timedelta
from typing import Any

import click

from feedmill.app import App
from feedmill.cli.context import Context, pass_context
from feedmill.cli.named import feed_named
from feedmill.cli.records import feed_record, fetch_record, print_record
from feedmill.cli.say import say
from feedmill.cli.world import run
from feedmill.collect.explain import explain
from feedmill.store.fetch_log import Fetch, former_urls_of, latest_fetches, tally_fetches

LOG_DAYS = timedelta(days=30)


@click.command()
@click.argument("feed")
@click.option("--log", "lines", default=5, show_default=True, metavar="N", help="How many fetches to list.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def why(context: Context, feed: str, lines: int, as_json: bool) -> None:
    """Explain when FEED (an id or a URL) is fetched next, and why then."""
    told = run(context.quiet_settings, lambda app: _tell(app, feed, max(lines, 1)))
    if as_json:
        fetches = [fetch_record(fetch) for fetch in told["fetches"]]
        print_record(told["feed"] | {"sentences": told["sentences"], "fetches": fetches})
        return
    say(_heading(told["feed"]), bold=True)
    for sentence in told["sentences"]:
        say(f"  {sentence}")
    if told["fetches"]:
        say("  The last fetches:")
    for fetch in told["fetches"][:lines]:
        say(f"    {_line(fetch)}")


async def _tell(app: App, name: str, lines: int) -> dict[str, Any]:
    now = datetime.now(UTC)
    feed = await feed_named(app.db, name)
    fetches = await latest_fetches(app.db, feed.id, lines)
    tally = await tally_fetches(app.db, feed.id, now - LOG_DAYS)
    sentences = explain(feed, fetches, tally, await former_urls_of(app.db, feed.id), now)
    return {"feed": feed_record(feed, now), "sentences": sentences, "fetches": fetches}


def _heading(feed: dict[str, Any]) -> str:
    where = f", {feed['url']}" if feed["title"] != feed["url"] else ""
    return f"{feed['title']} (feed {feed['id']}{where})"


def _line(fetch: Fetch) -> str:
    status = f"HTTP {fetch.http_status}" if fetch.http_status else ""
    new = f"{fetch.new_entries} new" if fetch.new_entries else ""
    parts = (f"{fetch.at:%Y-%m-%d %H:%M:%S}", f"{fetch.outcome:<12}", status, new, f"{fetch.ms} ms", fetch.message)
    return "  ".join(part for part in parts if part)
