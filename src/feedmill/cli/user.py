"""`feedmill user`: add, invite, list, disable and delete users; set passwords, turn two factors off, create keys."""

import sys
from dataclasses import replace
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
from feedmill.errors import CallerError, NameTaken
from feedmill.library.users.api_keys import create_api_key
from feedmill.library.users.app_passwords import create_app_password
from feedmill.library.users.manage_users import (
    create_first_admin,
    make_user,
    needs_setup,
    normalize_user_name,
    remove_user,
    set_password,
)
from feedmill.library.users.sign_in_links import (
    LINK_LIFETIME,
    address_of,
    create_sign_in_link,
    invite_user,
    sign_in_link,
)
from feedmill.library.users.two_factor import reset_two_factor
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.model.user import ACTIVE, DISABLED, POOLS, SCOPES, AccessEnded, Actor, Caller, User
from feedmill.store.admin.users import UserSummary, update_user, users_page
from feedmill.store.database import Database
from feedmill.store.feeds.lifecycle import private_feeds_of
from feedmill.store.users.users import user_of_name

COLUMNS = ("name", "role", "status", "two factors", "feeds", "last seen")
PAGE = 500
# No user: whoever can run commands on this machine has the rights of an admin.
OPERATOR = Actor()


@click.group()
def user() -> None:
    """Create, invite, list, disable, enable and delete accounts; set passwords, create keys and sign-in links."""


@user.command()
@click.argument("name")
@click.option("--admin", is_flag=True, help="Make it an admin; the first account always is one.")
@pass_context
def add(context: Context, name: str, admin: bool) -> None:
    """Create the account NAME. The password is prompted for, or read from standard input."""
    settings = context.quiet_settings
    run_with_database(settings, lambda db: _refuse_taken(db, normalize_user_name(name)))
    password = _new_password()
    print_text(run_with_database(settings, lambda db: _add(db, name, password, admin)))


@user.command()
@click.argument("name")
@click.option("--admin", is_flag=True, help="Make it an admin.")
@pass_context
def invite(context: Context, name: str, admin: bool) -> None:
    """Create the account NAME without a password, and print a link that signs them in once within a week."""
    settings = context.quiet_settings
    token = run_with_database(settings, lambda db: _invite(db, name, admin))
    click.echo(sign_in_link(address_of(settings), token))


@user.command(name="sign-in-link")
@click.argument("name", shell_complete=complete_user)
@pass_context
def create_link(context: Context, name: str) -> None:
    """Print a link that signs NAME in once within an hour, without a password or a provider."""
    settings = context.quiet_settings
    token = run_with_database(settings, lambda db: _sign_in_link(db, name))
    click.echo(sign_in_link(address_of(settings), token))


@user.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@pass_context
def list_users(context: Context, as_json: bool) -> None:
    """List the accounts."""
    found = run_with_database(context.quiet_settings, _all)
    now = datetime.now(UTC)
    if as_json:
        for account in found:
            print_record(_record(account))
    elif found:
        print_table(COLUMNS, [_row(account, now) for account in found], wide=("name",))
    else:
        print_text("there are no accounts yet: 'feedmill user add NAME' creates the first one, an admin")


@user.command(short_help="Set a new password for NAME, and end all their sessions.")
@click.argument("name", shell_complete=complete_user)
@click.option("--revoke-keys", is_flag=True, help="Revoke all their API keys, app passwords and output feeds too.")
@pass_context
def password(context: Context, name: str, revoke_keys: bool) -> None:
    """Set a new password for NAME, and end all their sessions.

    API keys, app passwords and output feeds stay valid, unless --revoke-keys is given.
    """
    settings = context.quiet_settings
    found = run_with_database(settings, lambda db: find_user(db, name))
    new = _new_password()
    ended = run_with_database(settings, lambda db: _set_password(db, found, new, revoke_keys))
    print_text(
        f"{found.name} has a new password. Sessions ended: {ended.sessions_ended}. Keys revoked: {ended.keys_revoked}."
    )
    if ended.keys_left:
        print_text(
            f"Keys that still work: {ended.keys_left}. 'feedmill user password {found.name} --revoke-keys' ends them."
        )


@user.command(name="two-factor-off", short_help="Turn two-factor authentication off for NAME.")
@click.argument("name", shell_complete=complete_user)
@pass_context
def two_factor_off(context: Context, name: str) -> None:
    """Turn two-factor authentication off for NAME, who lost the phone and the recovery codes.

    The password alone signs in again. Where the setting require_two_factor asks for it, NAME is led to set it up anew.
    """
    print_text(run_with_database(context.quiet_settings, lambda db: _turn_two_factor_off(db, name)))


@user.command()
@click.argument("name", shell_complete=complete_user)
@pass_context
def disable(context: Context, name: str) -> None:
    """Sign NAME out everywhere, and refuse further sign-ins."""
    changed = run_with_database(context.quiet_settings, lambda db: _set_status(db, name, DISABLED))
    print_text(f"{changed} is disabled: 'feedmill user enable {changed}' lets them sign in again")


@user.command()
@click.argument("name", shell_complete=complete_user)
@pass_context
def enable(context: Context, name: str) -> None:
    """Allow NAME to sign in again."""
    print_text(
        f"{run_with_database(context.quiet_settings, lambda db: _set_status(db, name, ACTIVE))} may sign in again"
    )


@user.command()
@click.argument("name", shell_complete=complete_user)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@pass_context
def delete(context: Context, name: str, yes: bool) -> None:
    """Delete NAME for good with everything they own: subscriptions, stars, labels, API keys, private feeds.

    A private feed is one that is fetched with their password. It is deleted with its entries, images and raw bodies;
    all other feeds stay.
    """
    settings = context.quiet_settings
    found, private = run_with_database(settings, lambda db: _to_delete(db, name))
    if not yes and not click.confirm(f"delete {found.name} for good (private feeds that go too: {private})?"):
        raise CallerError("nothing was deleted")
    run_with_database(settings, lambda db: remove_user(db, found, OPERATOR, datetime.now(UTC)))
    print_text(f"deleted {found.name}; private feeds deleted: {private}")


@user.command()
@click.argument("name", shell_complete=complete_user)
@click.option("--for", "purpose", default="made on the command line", help="What the key is for, shown in lists.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(SCOPES),
    help="What the key may do; by default everything that NAME may.",
)
@click.option("--pool-group", "groups", multiple=True, metavar="GROUP", help="Let the key take from this group only.")
@pass_context
def key(context: Context, name: str, purpose: str, scopes: tuple[str, ...], groups: tuple[str, ...]) -> None:
    """Create an API key for NAME and print it. It is shown only once."""
    click.echo(run_with_database(context.quiet_settings, lambda db: _key(db, name, purpose, scopes, groups)))


@user.command(name="app-password")
@click.argument("name", shell_complete=complete_user)
@click.option("--for", "device", required=True, metavar="DEVICE", help="The device or app that uses it.")
@click.option("--fever", is_flag=True, help="Allow apps that use the Fever API, too.")
@pass_context
def app_password(context: Context, name: str, device: str, fever: bool) -> None:
    """Create a password with which a reader app signs in as NAME, and print it. It is shown only once."""
    click.echo(run_with_database(context.quiet_settings, lambda db: _app_password(db, name, device, fever)))


def _new_password() -> str:
    if sys.stdin.isatty():
        typed: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
        return typed
    return sys.stdin.readline().rstrip("\r\n")


async def _refuse_taken(db: Database, name: str) -> None:
    if await user_of_name(db, name):
        raise NameTaken(f"the name {name!r} is taken")


async def _add(db: Database, name: str, password: str, is_admin: bool) -> str:
    now = datetime.now(UTC)
    if await needs_setup(db):
        first = await create_first_admin(db, name, password, now)
        return f"made {first.name}, the first account: an admin's, subscribed to every feed there is"
    added = await make_user(db, name, password, is_admin, now, OPERATOR)
    return f"made {added.name}" + (", an admin" if is_admin else "")


async def _invite(db: Database, name: str, is_admin: bool) -> str:
    if await needs_setup(db):
        raise CallerError("there are no accounts yet: 'feedmill user add NAME' creates the first one, an admin")
    _, token = await invite_user(db, name, is_admin, datetime.now(UTC), OPERATOR)
    return token


async def _sign_in_link(db: Database, name: str) -> str:
    found = await find_user(db, name)
    if found.status != ACTIVE:
        raise CallerError(f"{found.name} is disabled: 'feedmill user enable {found.name}' lets them sign in again")
    return await create_sign_in_link(db, found, LINK_LIFETIME, datetime.now(UTC), OPERATOR)


async def _all(db: Database) -> list[UserSummary]:
    found: list[UserSummary] = []
    while page := await users_page(db, found[-1].user.id if found else 0, PAGE):
        found += page
    return found


async def _set_password(db: Database, user: User, new: str, revoke_keys: bool) -> AccessEnded:
    return await set_password(db, user, new, None, datetime.now(UTC), OPERATOR, revoke_keys=revoke_keys)


async def _turn_two_factor_off(db: Database, name: str) -> str:
    found = await find_user(db, name)
    if not await reset_two_factor(db, found, OPERATOR, datetime.now(UTC)):
        return f"{found.name} has no two-factor authentication; nothing was changed"
    return f"two-factor authentication of {found.name} is off: the password alone signs in again"


async def _key(db: Database, name: str, purpose: str, scopes: tuple[str, ...], groups: tuple[str, ...]) -> str:
    found = await find_user(db, name)
    who, usual = Caller(found, found.scopes), (POOLS,) if groups else found.scopes
    now = datetime.now(UTC)
    secret, _ = await create_api_key(db, who, purpose, scopes or usual, None, now, groups or None)
    return secret


async def _app_password(db: Database, name: str, device: str, fever: bool) -> str:
    found = await find_user(db, name)
    who = Caller(found, found.scopes)
    password, _ = await create_app_password(db, who, device, datetime.now(UTC), allows_fever=fever)
    return password


async def _to_delete(db: Database, name: str) -> tuple[User, int]:
    """The account, and how many private feeds it has."""
    found = await find_user(db, name)
    return found, len(await private_feeds_of(db, found.id))


async def _set_status(db: Database, name: str, status: str) -> str:
    found = await find_user(db, name)
    await update_user(db, found, replace(found, status=status), OPERATOR, datetime.now(UTC))
    return found.name


def _record(account: UserSummary) -> dict[str, Any]:
    user = account.user
    return {
        "id": user.id,
        "name": user.name,
        "is_admin": user.is_admin,
        "status": user.status,
        "two_factor_at": iso_or_none(user.two_factor_at),
        "feeds": account.feeds,
        "quota_feeds": user.quota_feeds,
        "quota_bytes": user.quota_bytes,
        "created_at": to_iso(user.created_at),
        "last_seen_at": iso_or_none(user.last_seen_at),
    }


def _row(account: UserSummary, now: datetime) -> tuple[str, ...]:
    user = account.user
    seen = time_ago(user.last_seen_at, now) if user.last_seen_at else "never"
    factors = "on" if user.has_two_factor else "off"
    return user.name, "admin" if user.is_admin else "reader", user.status, factors, str(account.feeds), seen
