"""`feedmill pause`: leave a feed alone until it is resumed."""

import click

from feedmill.app import App
from feedmill.cli.context import Context, pass_context
from feedmill.cli.named import feed_named
from feedmill.cli.say import say
from feedmill.cli.world import run
from feedmill.store.removals import stop_feed


@click.command()
@click.argument("feeds", nargs=-1, required=True, metavar="FEED…")
@pass_context
def pause(context: Context, feeds: tuple[str, ...]) -> None:
    """Stop fetching FEEDs (ids or URLs); what they have brought stays."""
    run(context.quiet_settings, lambda app: _pause(app, feeds))


async def _pause(app: App, names: tuple[str, ...]) -> None:
    for feed in [await feed_named(app.db, name) for name in names]:
        await stop_feed(app.db, feed.id, "paused by a person")
        say(f"paused {feed.id} {feed.name}: 'feedmill resume {feed.id}' starts it again")
