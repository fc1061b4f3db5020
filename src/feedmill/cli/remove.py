"""`feedmill remove`: take a feed away with everything it brought."""

from datetime import UTC, datetime

import click

from feedmill.app import App
from feedmill.cli.context import Context, pass_context
from feedmill.cli.named import feed_named
from feedmill.cli.say import say
from feedmill.cli.world import run
from feedmill.errors import CallerError
from feedmill.model.feed import Feed
from feedmill.model.terminal import harmless
from feedmill.store.removals import remove_feed


@click.command()
@click.argument("feeds", nargs=-1, required=True, metavar="FEED…")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_context
def remove(context: Context, feeds: tuple[str, ...], yes: bool) -> None:
    """Remove FEEDs (ids or URLs) for good: entries, images, raw bodies, everybody's marks."""
    found = run(context.quiet_settings, lambda app: _find(app, feeds))
    for feed in found:
        if not yes:
            _ask(f"remove {feed.id} {feed.name} for good (entries: {feed.entry_count})?")
    run(context.quiet_settings, lambda app: _remove(app, found))


def _ask(question: str) -> None:
    if not click.confirm(harmless(question)):
        raise CallerError("nothing was removed")


async def _find(app: App, names: tuple[str, ...]) -> list[Feed]:
    return [await feed_named(app.db, name) for name in names]


async def _remove(app: App, found: list[Feed]) -> None:
    for feed in found:
        await remove_feed(app.db, feed.id, datetime.now(UTC))
        again = "; it is declared in the feeds file, so take it out there or it comes back" if feed.declared else ""
        say(f"removed {feed.id} {feed.name}{again}")
