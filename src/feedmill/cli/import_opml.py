"""`feedmill import`: add the feeds of an OPML file."""

import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import click

from feedmill.app import App
from feedmill.cli.actions.complete_names import complete_user
from feedmill.cli.actions.complete_paths import complete_file
from feedmill.cli.actions.refresh_feeds import refresh_ids
from feedmill.cli.actions.subscribe_user import import_for_user
from feedmill.cli.output.format_text import pluralize
from feedmill.cli.output.json_records import print_record
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_app import run_with_app
from feedmill.encryption import Encryption
from feedmill.errors import CallerError
from feedmill.i18n.messages import Message
from feedmill.library.subscriptions.opml import MAX_BYTES, OpmlDocument, OpmlFeed, read_opml
from feedmill.outbound.encrypted_options import encrypt_options
from feedmill.outbound.user_urls import BadUrl, parse_user_url
from feedmill.serve.data_lock import lock_holder
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds, mark_added_by_person
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """The result of an import: ids of new feeds, number of existing ones, messages about lines that failed."""

    added: list[int]
    known: int
    problems: list[str]


@click.command("import")
@click.argument("file", shell_complete=complete_file)
@click.option("--fetch", is_flag=True, help="Fetch the new feeds now instead of leaving it to a server.")
@click.option(
    "--user", metavar="NAME", shell_complete=complete_user, help="Subscribe this user to them; the folders are theirs."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_context
def import_opml(context: Context, file: str, fetch: bool, user: str | None, as_json: bool) -> None:
    """Add the feeds of an OPML FILE (- for standard input).

    Existing feeds are not changed. Lines that can't be imported are reported with their number.
    """
    opml = _read(file)
    document = read_opml(opml)
    if not document.feeds and document.errors:
        raise CallerError(f"{file}: line {document.errors[0].line}: {document.errors[0].message}")
    settings = context.quiet_settings
    imported = run_with_app(settings, lambda app: _import_for(app, user, opml) if user else _import(app, document))
    if as_json:
        print_record({"added": len(imported.added), "known": imported.known, "problems": imported.problems})
    else:
        _report(imported, lock_holder(settings.data) is not None, fetch)
    if fetch and imported.added:
        refresh_ids(settings, imported.added, as_json)


def _read(file: str) -> bytes:
    try:
        # One byte more than the limit, so that the parser can tell that the file is too long.
        if file == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(file).open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise CallerError(f"{file} can't be read: {error.strerror}") from error


async def _import_for(app: App, user: str, opml: bytes) -> ImportCounts:
    return ImportCounts(*await import_for_user(app, user, opml))


async def _import(app: App, document: OpmlDocument) -> ImportCounts:
    problems = [f"line {error.line}: {error.message}" for error in document.errors]
    feeds_by_url = _unique_feeds(app.tools.encryption, document.feeds, problems)
    before = await feed_ids_by_any_url(app.db, list(feeds_by_url))
    now = datetime.now(UTC)
    new = [feed for url, feed in feeds_by_url.items() if url not in before]
    await add_feeds(app.db, new, now, now, Message("schedule.imported"))
    await mark_added_by_person(app.db, list(before.values()), now)
    added = await feed_ids_by_any_url(app.db, [feed.url for feed in new])
    return ImportCounts(list(added.values()), len(before), problems)


def _unique_feeds(encryption: Encryption, feeds: list[OpmlFeed], problems: list[str]) -> dict[str, NewFeed]:
    """The feeds to add by URL, each once, in the first folder that contains it."""
    feeds_by_url: dict[str, NewFeed] = {}
    for feed in feeds:
        try:
            address = parse_user_url(feed.url)
        except BadUrl as error:
            problems.append(str(error))
            continue
        new = NewFeed(address.url, feed.title or None, folder=feed.folder, site_url=feed.site_url)
        feeds_by_url.setdefault(
            address.url, replace(new, http_options=encrypt_options(encryption, address.http_options))
        )
    return feeds_by_url


def _report(imported: ImportCounts, served: bool, fetch: bool) -> None:
    for problem in imported.problems:
        print_text(problem, err=True)
    known = f", {imported.known} there already" if imported.known else ""
    left_out = f", {pluralize(len(imported.problems), 'line')} could not be taken over" if imported.problems else ""
    click.echo(f"{pluralize(len(imported.added), 'feed')} added{known}{left_out}")
    if imported.added and not fetch:
        by_hand = "'feedmill refresh --due' fetches them, or 'feedmill serve'"
        click.echo("the running server fetches them now" if served else by_hand)
