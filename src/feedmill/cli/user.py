"""`feedmill user`: accounts, from the command line. A password is typed or read, never an argument."""

import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import click

from feedmill.app import App
from feedmill.cli.context import Context, pass_context
from feedmill.cli.for_user import find_user
from feedmill.cli.records import print_record
from feedmill.cli.say import say
from feedmill.cli.tables import print_table
from feedmill.cli.world import run
from feedmill.collect.explain import ago
from feedmill.errors import NameTaken
from feedmill.library.accounts import add_account, needs_setup, normal_name, set_password, set_up
from feedmill.library.api_keys import make_key
from feedmill.model.account import ACTIVE, DISABLED, SCOPES, Actor, Caller
from feedmill.model.times import text_or_none, to_text
from feedmill.store.accounts import user_of_name
from feedmill.store.administration import Account, accounts_page, change_account

COLUMNS = ("name", "role", "status", "feeds", "last seen")
PAGE = 500
# Nobody: whoever may start commands here may do what an admin may.
OPERATOR = Actor()


@click.group()
def user() -> None:
    """Make accounts and API keys, list them, give new passwords, disable and enable."""


@user.command()
@click.argument("name")
@click.option("--admin", is_flag=True, help="May administer the installation; the first account always may.")
@pass_context
def add(context: Context, name: str, admin: bool) -> None:
    """Make an account NAME. The password is asked for, or read from the standard input."""
    settings = context.quiet_settings
    run(settings, lambda app: _refuse_taken(app, normal_name(name)))
    password = _new_password()
    say(run(settings, lambda app: _add(app, name, password, admin)))


@user.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@pass_context
def list_users(context: Context, as_json: bool) -> None:
    """List the accounts."""
    found = run(context.quiet_settings, _all)
    now = datetime.now(UTC)
    if as_json:
        for account in found:
            print_record(_record(account))
    elif found:
        print_table(COLUMNS, [_row(account, now) for account in found], wide=("name",))
    else:
        say("there are no accounts yet: 'feedmill user add NAME' makes the first, an admin's")


@user.command()
@click.argument("name")
@pass_context
def password(context: Context, name: str) -> None:
    """Give NAME a new password, and end all of their sessions."""
    settings = context.quiet_settings
    found = run(settings, lambda app: find_user(app, name))
    new = _new_password()
    run(settings, lambda app: set_password(app.db, found, new, None, datetime.now(UTC), OPERATOR))
    say(f"{found.name} has a new password, and is signed out everywhere")


@user.command()
@click.argument("name")
@pass_context
def disable(context: Context, name: str) -> None:
    """Sign NAME out everywhere, and let them in no more."""
    changed = run(context.quiet_settings, lambda app: _set_status(app, name, DISABLED))
    say(f"{changed} is disabled: 'feedmill user enable {changed}' lets them in again")


@user.command()
@click.argument("name")
@pass_context
def enable(context: Context, name: str) -> None:
    """Let NAME in again."""
    say(f"{run(context.quiet_settings, lambda app: _set_status(app, name, ACTIVE))} may sign in again")


@user.command()
@click.argument("name")
@click.option("--for", "purpose", default="made on the command line", help="What the key is for, shown in lists.")
@click.option("--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="What it may do; else all NAME may.")
@pass_context
def key(context: Context, name: str, purpose: str, scopes: tuple[str, ...]) -> None:
    """Print a new API key of NAME, this once."""
    click.echo(run(context.quiet_settings, lambda app: _key(app, name, purpose, scopes)))


def _new_password() -> str:
    if sys.stdin.isatty():
        typed: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
        return typed
    return sys.stdin.readline().rstrip("\r\n")


async def _refuse_taken(app: App, name: str) -> None:
    if await user_of_name(app.db, name):
        raise NameTaken(f"the name {name!r} is taken")


async def _add(app: App, name: str, password: str, is_admin: bool) -> str:
    now = datetime.now(UTC)
    if await needs_setup(app.db):
        first = await set_up(app.db, name, password, now)
        return f"made {first.name}, the first account: an admin's, subscribed to every feed there is"
    added = await add_account(app.db, name, password, is_admin, now, OPERATOR)
    return f"made {added.name}" + (", an admin" if is_admin else "")


async def _all(app: App) -> list[Account]:
    found: list[Account] = []
    while page := await accounts_page(app.db, found[-1].user.id if found else 0, PAGE):
        found += page
    return found


async def _key(app: App, name: str, purpose: str, scopes: tuple[str, ...]) -> str:
    found = await find_user(app, name)
    who = Caller(found, found.scopes)
    secret, _ = await make_key(app.db, who, purpose, scopes or found.scopes, None, datetime.now(UTC))
    return secret


async def _set_status(app: App, name: str, status: str) -> str:
    found = await find_user(app, name)
    await change_account(app.db, found, replace(found, status=status), OPERATOR, datetime.now(UTC))
    return found.name


def _record(account: Account) -> dict[str, Any]:
    user = account.user
    return {
        "id": user.id,
        "name": user.name,
        "is_admin": user.is_admin,
        "status": user.status,
        "feeds": account.feeds,
        "quota_feeds": user.quota_feeds,
        "quota_bytes": user.quota_bytes,
        "created_at": to_text(user.created_at),
        "last_seen_at": text_or_none(user.last_seen_at),
    }


def _row(account: Account, now: datetime) -> tuple[str, ...]:
    user = account.user
    seen = ago(user.last_seen_at, now) if user.last_seen_at else "never"
    return user.name, "admin" if user.is_admin else "reader", user.status, str(account.feeds), seen
