"""`feedmill show`: show a feed with its latest entries, or an entry with its text."""

import shutil
import sys
import textwrap
from datetime import UTC, datetime
from typing import Any

import click
import msgspec

from feedmill.cli.actions.complete_names import complete_feed
from feedmill.cli.actions.find_feed import find_feed, read_id
from feedmill.cli.output.json_records import feed_record, print_record
from feedmill.cli.output.print_table import print_table
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.errors import CallerError
from feedmill.html.plain_text import plain_text
from feedmill.model.timestamps import from_iso
from feedmill.store.database import Database
from feedmill.store.entries.read_entries import images_of, latest_entries, read_entry, revisions_of

ENTRY_PREFIX = "entry:"


class UnknownEntry(CallerError):
    """There is no such entry."""


@click.command()
@click.argument("what", metavar="FEED|entry:ID", shell_complete=complete_feed)
@click.option(
    "--entries", "limit", default=10, show_default=True, metavar="N", help="How many of a feed's entries to list."
)
@click.option("--raw", is_flag=True, help="Print an entry's HTML as it is stored, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with all fields.")
@pass_context
def show(context: Context, what: str, limit: int, raw: bool, as_json: bool) -> None:
    """Show a feed (by id or URL) with its latest entries, or an entry with its text."""
    if what.startswith(ENTRY_PREFIX):
        entry = run_with_database(context.quiet_settings, lambda db: _entry(db, what.removeprefix(ENTRY_PREFIX)))
        _print_entry(entry, raw, as_json)
        return
    if raw:
        raise click.UsageError("--raw is for an entry: feedmill show entry:ID --raw")
    feed = run_with_database(context.quiet_settings, lambda db: _feed(db, what, max(limit, 0)))
    if as_json:
        print_record(feed)
    else:
        _print_feed(feed)


async def _feed(db: Database, name: str, limit: int) -> dict[str, Any]:
    feed = await find_feed(db, name)
    latest = [msgspec.to_builtins(entry) for entry in await latest_entries(db, feed.id, limit)]
    return feed_record(feed, datetime.now(UTC)) | {"latest": latest}


async def _entry(db: Database, text: str) -> dict[str, Any]:
    number = read_id(text)
    entry = await read_entry(db, number) if number is not None else None
    if entry is None:
        raise UnknownEntry(f"there is no entry {text}: 'feedmill show FEED' lists a feed's latest with their ids")
    record: dict[str, Any] = msgspec.to_builtins(entry)
    record["revisions"] = msgspec.to_builtins(await revisions_of(db, entry.id))
    record["images"] = msgspec.to_builtins(await images_of(db, entry.id))
    return record


def _print_feed(feed: dict[str, Any]) -> None:
    print_text(feed["title"], bold=True)
    lines = {
        "feed": f"{feed['id']}  {feed['url']}",
        "site": feed["site_url"],
        "folder": " / ".join(feed["folder"]),
        "state": feed["state"],
        "next": f"{_time(feed['next_fetch_at'])} ({feed['next_fetch_why']})",
        "entries": str(feed["entries"]),
    }
    _print_lines(lines)
    if feed["latest"]:
        print_table(("entry", "published", "title"), [_row(entry) for entry in feed["latest"]], wide=("title",))


def _row(entry: dict[str, Any]) -> tuple[str, str, str]:
    return str(entry["id"]), _published(entry), entry["title"] or entry["link"] or ""


def _print_entry(entry: dict[str, Any], raw: bool, as_json: bool) -> None:
    html = entry["content_html"] or entry["summary"] or ""
    if as_json:
        print_record(entry)
    elif raw:
        (print_text if sys.stdout.isatty() else click.echo)(html)
    else:
        print_text(entry["title"] or "(no title)", bold=True)
        changed = entry["revision_count"]
        lines = {
            "entry": f"{entry['id']}  {entry['link'] or ''}",
            "feed": f"{entry['feed_id']}  {entry['feed_title'] or entry['feed_url']}",
            "author": entry["author"],
            "published": _published(entry),
            "changed": f"{changed} times (--json has the texts)" if changed else None,
        }
        _print_lines(lines)
        print_text()
        print_text(_wrapped(plain_text(html, None)))


def _published(entry: dict[str, Any]) -> str:
    return f"no date, found {_time(entry['published_at'])}" if entry["undated"] else _time(entry["published_at"])


def _time(text: str | None) -> str:
    return f"{from_iso(text):%Y-%m-%d %H:%M} UTC" if text else "never"


def _print_lines(lines: dict[str, str | None]) -> None:
    for name, text in lines.items():
        if text:
            print_text(f"  {name:<9} {text}")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, min(shutil.get_terminal_size().columns, 100)) if sys.stdout.isatty() else text
