"""`feedmill feeds`: list feeds with their state and next fetch."""

from datetime import UTC, datetime

import click

from feedmill.cli.output.json_records import feed_record, print_record
from feedmill.cli.output.print_table import print_table
from feedmill.cli.output.relative_times import time_ago, time_until
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.model.feed import IS_IN_STATE, Feed, feed_state
from feedmill.store.database import Database
from feedmill.store.feeds.read_feeds import all_feeds

COLUMNS = ("id", "title", "state", "last", "next", "why", "entries")
# Feeds that need attention come first.
STATE_ORDER = ("error", "failing", "running", "due", "new", "ok", "resting", "disabled")
FAR_FUTURE = datetime.max.replace(tzinfo=UTC)


@click.command()
@click.option("--state", type=click.Choice(sorted(IS_IN_STATE)), help="Only feeds in this state.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@pass_context
def feeds(context: Context, state: str | None, as_json: bool) -> None:
    """List the feeds: state, last fetch, next fetch and why, entries.

    Feeds that need attention come first. On a terminal long texts are cut; in a pipe they are complete and separated
    by tabs.
    """
    now = datetime.now(UTC)
    chosen = run_with_database(context.quiet_settings, lambda db: _chosen(db, state, now))
    if as_json:
        for feed in chosen:
            print_record(feed_record(feed, now))
    elif chosen:
        print_table(COLUMNS, [_row(feed, now) for feed in chosen], wide=("title", "why"))
    else:
        click.echo("there are no such feeds" if state else "there are no feeds yet: 'feedmill add URL' adds one")


async def _chosen(db: Database, state: str | None, now: datetime) -> list[Feed]:
    chosen = [feed for feed in await all_feeds(db) if state is None or IS_IN_STATE[state](feed, now)]
    return sorted(
        chosen, key=lambda feed: (STATE_ORDER.index(feed_state(feed, now)), feed.next_fetch_at or FAR_FUTURE, feed.id)
    )


def _row(feed: Feed, now: datetime) -> tuple[str, ...]:
    return (
        str(feed.id),
        feed.name,
        feed_state(feed, now),
        time_ago(feed.last_fetched_at, now) if feed.last_fetched_at else "never",
        time_until(feed.next_fetch_at, now) if feed.next_fetch_at else "never",
        str(feed.next_fetch_why or ""),
        str(feed.entry_count),
    )
