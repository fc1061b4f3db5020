"""`feedmill pool grant` and `feedmill pool revoke`: who may take from a group."""

import click

from feedmill.cli.actions.find_user import find_user
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_pools import OpenedPools, run_with_pools


@click.command(short_help="Let the account USER take from the group NAME.")
@click.argument("name")
@click.argument("user")
@pass_context
def grant(context: Context, name: str, user: str) -> None:
    """Let the account USER take from the group NAME, in the browser and with its API keys. Admins may take from all."""
    print_text(run_with_pools(context.quiet_settings, lambda opened: _grant(opened, name, user)))


@click.command(short_help="Withdraw from the account USER the right to take from the group NAME.")
@click.argument("name")
@click.argument("user")
@pass_context
def revoke(context: Context, name: str, user: str) -> None:
    """Withdraw from the account USER the right to take from the group NAME, at once and also for its API keys."""
    print_text(run_with_pools(context.quiet_settings, lambda opened: _revoke(opened, name, user)))


async def _grant(opened: OpenedPools, name: str, user: str) -> str:
    group, found = await opened.pools.group(name), await find_user(opened.db, user)
    await opened.pools.grant(group, found)
    return f"{found.name} may take from {group.name}"


async def _revoke(opened: OpenedPools, name: str, user: str) -> str:
    group, found = await opened.pools.group(name), await find_user(opened.db, user)
    had = await opened.pools.revoke(group, found.id)
    still = "; as an admin they still do" if found.is_admin else ""
    return f"{found.name} may take from {group.name} no more{still}" if had else f"{found.name} had no such right"
