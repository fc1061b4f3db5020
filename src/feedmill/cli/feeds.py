"""`feedmill feeds`: every feed, how it fares, and when it is due."""

from datetime import UTC, datetime

import click

from feedmill.app import App
from feedmill.cli.context import Context, pass_context
from feedmill.cli.records import feed_record, print_record
from feedmill.cli.tables import print_table
from feedmill.cli.world import run
from feedmill.collect.explain import ago, ahead
from feedmill.model.feed import Feed
from feedmill.model.standing import IS, standing
from feedmill.store.feeds import all_feeds

COLUMNS = ("id", "title", "state", "last", "next", "why", "entries")
# What needs a person comes first.
ORDER = ("error", "failing", "running", "due", "new", "ok", "resting", "disabled")
FAR = datetime.max.replace(tzinfo=UTC)


@click.command()
@click.option("--state", type=click.Choice(sorted(IS)), help="Only feeds of which this is true.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@pass_context
def feeds(context: Context, state: str | None, as_json: bool) -> None:
    """List the feeds: state, last fetch, next fetch and why, entries.

    Those that need a look come first. On a terminal long texts are cut; in a pipe they are whole and separated by tabs.
    """
    now = datetime.now(UTC)
    chosen = run(context.quiet_settings, lambda app: _chosen(app, state, now))
    if as_json:
        for feed in chosen:
            print_record(feed_record(feed, now))
    elif chosen:
        print_table(COLUMNS, [_row(feed, now) for feed in chosen], wide=("title", "why"))
    else:
        click.echo("there are no such feeds" if state else "there are no feeds yet: 'feedmill add URL' adds one")


async def _chosen(app: App, state: str | None, now: datetime) -> list[Feed]:
    chosen = [feed for feed in await all_feeds(app.db) if state is None or IS[state](feed, now)]
    return sorted(chosen, key=lambda feed: (ORDER.index(standing(feed, now)), feed.next_fetch_at or FAR, feed.id))


def _row(feed: Feed, now: datetime) -> tuple[str, ...]:
    return (
        str(feed.id),
        feed.name,
        standing(feed, now),
        ago(feed.last_fetched_at, now) if feed.last_fetched_at else "never",
        ahead(feed.next_fetch_at, now) if feed.next_fetch_at else "never",
        feed.next_fetch_why or "",
        str(feed.entry_count),
    )
