"""`feedmill pause`: stop fetching a feed until it is resumed."""

import click

from feedmill.cli.actions.complete_names import complete_feed
from feedmill.cli.actions.find_feed import find_feed
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.i18n.messages import Message
from feedmill.store.database import Database
from feedmill.store.feeds.lifecycle import stop_feed


@click.command()
@click.argument("feeds", nargs=-1, required=True, metavar="FEED…", shell_complete=complete_feed)
@pass_context
def pause(context: Context, feeds: tuple[str, ...]) -> None:
    """Stop fetching FEEDs (ids or URLs); their entries stay."""
    run_with_database(context.quiet_settings, lambda db: _pause(db, feeds))


async def _pause(db: Database, names: tuple[str, ...]) -> None:
    for feed in [await find_feed(db, name) for name in names]:
        await stop_feed(db, feed.id, Message("schedule.paused"))
        print_text(f"paused {feed.id} {feed.name}: 'feedmill resume {feed.id}' starts it again")
