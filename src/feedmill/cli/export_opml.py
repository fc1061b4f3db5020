"""`feedmill export`: write the feeds as OPML."""

from datetime import UTC, datetime
from pathlib import Path

import click

from feedmill.cli.actions.complete_paths import complete_file
from feedmill.cli.output.format_text import pluralize
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.errors import CallerError
from feedmill.library.subscriptions.opml import OpmlFeed, write_opml
from feedmill.store.database import Database
from feedmill.store.feeds.read_feeds import all_feeds


@click.command("export")
@click.argument("file", required=False, default="-", shell_complete=complete_file)
@pass_context
def export_opml(context: Context, file: str) -> None:
    """Write the feeds as OPML to FILE, or to standard output."""
    feeds = run_with_database(context.quiet_settings, _feeds)
    text = write_opml(feeds, title="Feedmill", created_at=datetime.now(UTC))
    if file == "-":
        click.echo(text, nl=False)
        return
    try:
        Path(file).write_bytes(text)
    except OSError as error:
        raise CallerError(f"{file} can't be written: {error.strerror}") from error
    click.echo(f"{pluralize(len(feeds), 'feed')} written to {file}")


async def _feeds(db: Database) -> list[OpmlFeed]:
    feeds = await all_feeds(db)
    return [OpmlFeed(feed.url, feed.own_title or feed.title or "", feed.site_url, feed.folder) for feed in feeds]
