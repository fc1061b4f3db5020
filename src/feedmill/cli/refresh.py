"""`feedmill refresh`: fetch feeds now and show the progress."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import click

from feedmill.cli.actions.complete_names import complete_feed
from feedmill.cli.output.refresh_report import make_report
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.collect.declared.feeds_file_paths import feeds_files
from feedmill.optional_imports import import_by_name
from feedmill.settings import Settings
from feedmill.store.archive.image_tasks import waiting_images
from feedmill.store.database import Database
from feedmill.store.feeds.claims import is_any_feed_due, is_any_feed_fetched, repair_far_future_times
from feedmill.store.feeds.declared_feeds import count_declared_feeds

# Imported when there is something to fetch: most runs of a cron job find nothing.
REFRESH_FEEDS = "feedmill.cli.actions.refresh_feeds"
ENCRYPTION = "feedmill.encryption:Encryption"
DECLARED_FEEDS = "feedmill.collect.declared.sync_feeds:DeclaredFeeds"


@click.command()
@click.argument("feeds", nargs=-1, metavar="[FEED]…", shell_complete=complete_feed)
@click.option("--all", "everything", is_flag=True, help="All feeds that are not paused or at rest, due or not.")
@click.option("--due", is_flag=True, help="Feeds that are due now, as a server does; reads the feeds file first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line (as in a pipe).")
@pass_context
def refresh(context: Context, feeds: tuple[str, ...], everything: bool, due: bool, as_json: bool) -> None:
    """Fetch feeds now: FEEDs by id or URL, --all, or --due.

    The exit code is 0 when some feeds fail, and 1 when all of them do.
    """
    if (bool(feeds), everything, due).count(True) != 1:
        raise click.UsageError("name the feeds by id or URL, or use --all or --due")
    settings = context.quiet_settings
    if due:
        _refresh_if(settings, as_json, lambda db: _is_work_due(db, settings), "refresh_due")
    elif everything:
        _refresh_if(settings, as_json, is_any_feed_fetched, "refresh_all")
    else:
        import_by_name(f"{REFRESH_FEEDS}:refresh_named")(settings, feeds, as_json)


def _refresh_if(
    settings: Settings, as_json: bool, has_work: Callable[[Database], Awaitable[bool]], refresh: str
) -> None:
    """Calls this function of the module that fetches, or reports that there was nothing to do."""
    if run_with_database(settings, has_work):
        import_by_name(f"{REFRESH_FEEDS}:{refresh}")(settings, as_json)
    else:
        make_report({}, as_json).summarize()


async def _is_work_due(db: Database, settings: Settings) -> bool:
    """Whether a feed is due or an image waits, after the feeds file was read, as a scheduler does."""
    if settings.feeds_file or feeds_files(None, settings.data) or await count_declared_feeds(db):
        encryption = import_by_name(ENCRYPTION).of(settings)
        await import_by_name(DECLARED_FEEDS)(db, settings.feeds_file, settings.data, encryption=encryption).follow()
    now = datetime.now(UTC)  # feeds just added from the file are due
    await repair_far_future_times(db, now)
    return await is_any_feed_due(db, now) or bool(await waiting_images(db, now, 1))
