"""`feedmill resume`: fetch a feed again that was paused, disabled or failing."""

from datetime import UTC, datetime

import click

from feedmill.cli.actions.complete_names import complete_feed
from feedmill.cli.actions.find_feed import find_feed
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.i18n.messages import Message
from feedmill.store.database import Database
from feedmill.store.feeds.lifecycle import start_feed


@click.command()
@click.argument("feeds", nargs=-1, required=True, metavar="FEED…", shell_complete=complete_feed)
@pass_context
def resume(context: Context, feeds: tuple[str, ...]) -> None:
    """Fetch FEEDs (ids or URLs) again; they are due at once."""
    run_with_database(context.quiet_settings, lambda db: _resume(db, feeds))


async def _resume(db: Database, names: tuple[str, ...]) -> None:
    for feed in [await find_feed(db, name) for name in names]:
        await start_feed(db, feed.id, Message("schedule.resumed_by_person"), datetime.now(UTC))
        print_text(f"resumed {feed.id} {feed.name}: a running server fetches it now, or 'feedmill refresh {feed.id}'")
