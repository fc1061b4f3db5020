"""`feedmill export`: the feeds as a list that other readers understand."""

from datetime import UTC, datetime
from pathlib import Path

import click

from feedmill.app import App
from feedmill.cli.context import Context, pass_context
from feedmill.cli.say import counted
from feedmill.cli.world import run
from feedmill.errors import CallerError
from feedmill.library.opml import OpmlFeed, write_opml
from feedmill.store.feeds import all_feeds


@click.command("export")
@click.argument("file", required=False, default="-")
@pass_context
def export_opml(context: Context, file: str) -> None:
    """Write the feeds as OPML to FILE, or to standard output."""
    feeds = run(context.quiet_settings, _feeds)
    text = write_opml(feeds, title="Feedmill", created_at=datetime.now(UTC))
    if file == "-":
        click.echo(text, nl=False)
        return
    try:
        Path(file).write_bytes(text)
    except OSError as error:
        raise CallerError(f"{file} can't be written: {error.strerror}") from error
    click.echo(f"{counted(len(feeds), 'feed')} written to {file}")


async def _feeds(app: App) -> list[OpmlFeed]:
    feeds = await all_feeds(app.db)
    return [OpmlFeed(feed.url, feed.own_title or feed.title or "", feed.site_url, feed.folder) for feed in feeds]
