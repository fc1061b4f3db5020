"""`feedmill output-feed`: create, list and revoke output feeds, and list what they can be made of."""

from datetime import UTC, datetime
from typing import Any

import click

from feedmill.cli.actions.complete_names import complete_user
from feedmill.cli.actions.find_user import find_user
from feedmill.cli.output.json_records import print_record
from feedmill.cli.output.print_table import print_table
from feedmill.cli.output.print_text import print_text
from feedmill.cli.output.relative_times import time_ago
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.encryption import Encryption
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.output_feeds.addresses import OutputAddress, OutputFormat, announcing_hub
from feedmill.library.output_feeds.find_list import OutputListName, available_lists
from feedmill.library.output_feeds.manage_output_feeds import (
    create_output_feed,
    list_output_feeds,
    revoke_output_feed,
)
from feedmill.model.syndication.output_feed import OutputFeed, parse_output_list
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.model.user import Caller
from feedmill.settings import Settings
from feedmill.store.database import Database

COLUMNS = ("id", "name", "list", "last read", "by")


@click.group()
def output_feed() -> None:
    """Let other programs read a user's lists as feeds, under secret addresses that can be revoked."""


@output_feed.command(short_help="Create an output feed of a LIST of USER, and print its addresses.")
@click.argument("user", shell_complete=complete_user)
@click.argument("list_name", metavar="LIST")
@click.option("--name", help="The title of the feed; by default the name of the list.")
@click.option("--announce", is_flag=True, help="Tell the hub of the setting websub_hub of new entries.")
@pass_context
def add(context: Context, user: str, list_name: str, name: str | None, announce: bool) -> None:
    """Create an output feed of a LIST of USER, and print its addresses. They are shown only once.

    LIST is all, starred or later, or feed, folder, label, search, filter or pool with an id, such as folder/3;
    'feedmill output-feed lists USER' prints them.
    """
    settings = context.quiet_settings
    secret = run_with_database(settings, lambda db: _add(db, settings, user, list_name, name, announce))
    for format in OutputFormat:
        click.echo(OutputAddress(_site(settings), secret, format).url)


@output_feed.command(name="list")
@click.argument("user", shell_complete=complete_user)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@pass_context
def list_feeds(context: Context, user: str, as_json: bool) -> None:
    """List the output feeds of USER; never their addresses."""
    found, now = run_with_database(context.quiet_settings, lambda db: _list(db, user)), datetime.now(UTC)
    if as_json:
        for feed in found:
            print_record(_record(feed))
    elif found:
        print_table(COLUMNS, [_row(feed, now) for feed in found], wide=("name", "by"))
    else:
        print_text("there are no output feeds: 'feedmill output-feed add USER LIST' creates one")


@output_feed.command()
@click.argument("user", shell_complete=complete_user)
@pass_context
def lists(context: Context, user: str) -> None:
    """Print the lists of USER that output feeds can be made of."""
    found = run_with_database(context.quiet_settings, lambda db: _lists(db, user))
    rows = [(each.list.name, each.name or str(Message(f"output_list.{each.list.kind}"))) for each in found]
    print_table(("list", "name"), rows, wide=("name",))


@output_feed.command()
@click.argument("user", shell_complete=complete_user)
@click.argument("id", type=click.IntRange(min=1))
@pass_context
def revoke(context: Context, user: str, id: int) -> None:
    """Revoke the output feed ID of USER: its address stops working at once."""
    run_with_database(context.quiet_settings, lambda db: _revoke(db, user, id))
    print_text(f"output feed {id} is revoked")


async def _caller(db: Database, name: str) -> Caller:
    found = await find_user(db, name)
    return Caller(found, found.scopes)


async def _add(db: Database, settings: Settings, user: str, list_name: str, name: str | None, announce: bool) -> str:
    wanted = parse_output_list(list_name)
    if wanted is None:
        raise BadInput(Message("error.bad_output_list"), field="list")
    if announce and not announcing_hub(settings):
        raise BadInput(Message("error.no_hub"), field="announce")
    encryption = Encryption.of(settings) if announce else None
    who, now = await _caller(db, user), datetime.now(UTC)
    secret, _ = await create_output_feed(db, who, wanted, name, now, encryption)
    return secret


async def _list(db: Database, user: str) -> list[OutputFeed]:
    return await list_output_feeds(db, await _caller(db, user), datetime.now(UTC))


async def _lists(db: Database, user: str) -> list[OutputListName]:
    return await available_lists(db, await _caller(db, user))


async def _revoke(db: Database, user: str, id: int) -> None:
    await revoke_output_feed(db, await _caller(db, user), id, datetime.now(UTC))


def _site(settings: Settings) -> str:
    host = f"[{settings.listen}]" if ":" in settings.listen else settings.listen
    return settings.public_url or f"http://{host}:{settings.port}"


def _record(feed: OutputFeed) -> dict[str, Any]:
    return {
        "id": feed.id,
        "name": feed.name,
        "list": feed.list.name,
        "announces": feed.announces,
        "created_at": to_iso(feed.created_at),
        "last_used_at": iso_or_none(feed.last_used_at),
        "last_address": feed.last_address,
        "last_user_agent": feed.last_user_agent,
    }


def _row(feed: OutputFeed, now: datetime) -> tuple[str, ...]:
    read = time_ago(feed.last_used_at, now) if feed.last_used_at else "never"
    return str(feed.id), feed.name, feed.list.name, read, feed.last_user_agent or ""
