"""`feedmill remove`: remove a feed with its entries, images and raw bodies."""

from datetime import UTC, datetime

import click

from feedmill.archive.remove_feed import remove_feed_and_objects
from feedmill.cli.actions.complete_names import complete_feed
from feedmill.cli.actions.find_feed import find_feed
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.errors import CallerError
from feedmill.model.control_characters import replace_control_characters
from feedmill.model.feed import Feed
from feedmill.store.database import Database


@click.command()
@click.argument("feeds", nargs=-1, required=True, metavar="FEED…", shell_complete=complete_feed)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@pass_context
def remove(context: Context, feeds: tuple[str, ...], yes: bool) -> None:
    """Remove FEEDs (ids or URLs) for good: entries, images, raw bodies, all users' marks."""
    found = run_with_database(context.quiet_settings, lambda db: _find(db, feeds))
    for feed in found:
        if not yes:
            _ask(f"remove {feed.id} {feed.name} for good (entries: {feed.entry_count})?")
    run_with_database(context.quiet_settings, lambda db: _remove(db, found))


def _ask(question: str) -> None:
    if not click.confirm(replace_control_characters(question)):
        raise CallerError("nothing was removed")


async def _find(db: Database, names: tuple[str, ...]) -> list[Feed]:
    return [await find_feed(db, name) for name in names]


async def _remove(db: Database, found: list[Feed]) -> None:
    for feed in found:
        await remove_feed_and_objects(db, feed.id, datetime.now(UTC))
        again = "; it is declared in the feeds file, so take it out there or it comes back" if feed.declared else ""
        print_text(f"removed {feed.id} {feed.name}{again}")
