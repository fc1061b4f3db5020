"""`feedmill resume`: fetch a feed again that was paused, disabled or failing."""

from datetime import UTC, datetime

import click

from feedmill.app import App
from feedmill.cli.context import Context, pass_context
from feedmill.cli.named import feed_named
from feedmill.cli.say import say
from feedmill.cli.world import run
from feedmill.store.removals import start_feed


@click.command()
@click.argument("feeds", nargs=-1, required=True, metavar="FEED…")
@pass_context
def resume(context: Context, feeds: tuple[str, ...]) -> None:
    """Fetch FEEDs (ids or URLs) again; they are due at once."""
    run(context.quiet_settings, lambda app: _resume(app, feeds))


async def _resume(app: App, names: tuple[str, ...]) -> None:
    for feed in [await feed_named(app.db, name) for name in names]:
        await start_feed(app.db, feed.id, "resumed by a person", datetime.now(UTC))
        say(f"resumed {feed.id} {feed.name}: a running server fetches it now, or 'feedmill refresh {feed.id}'")
