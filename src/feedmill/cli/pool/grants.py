"""`feedmill pool grant` and `feedmill pool revoke`: who may take from a group, and who may fill it."""

import click

from feedmill.cli.actions.complete_names import complete_pool_group, complete_user
from feedmill.cli.actions.find_user import find_user
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_pools import OpenedPools, run_with_pools
from feedmill.model.pool import PoolRight

ACTIONS = {PoolRight.TAKE: "take from", PoolRight.FILL: "fill"}


@click.command(short_help="Let the account USER take from the group NAME, or fill it.")
@click.argument("name", shell_complete=complete_pool_group)
@click.argument("user", shell_complete=complete_user)
@click.option("--fill", is_flag=True, help="Let it put texts into the group instead.")
@pass_context
def grant(context: Context, name: str, user: str, fill: bool) -> None:
    """Let the account USER take from the group NAME, in the browser and with its API keys. Admins may take from all."""
    print_text(run_with_pools(context.quiet_settings, lambda opened: _grant(opened, name, user, _right(fill))))


@click.command(short_help="Withdraw from the account USER the right to take from the group NAME, or to fill it.")
@click.argument("name", shell_complete=complete_pool_group)
@click.argument("user", shell_complete=complete_user)
@click.option("--fill", is_flag=True, help="The right to put texts into the group instead.")
@pass_context
def revoke(context: Context, name: str, user: str, fill: bool) -> None:
    """Withdraw from the account USER the right to take from the group NAME, at once and also for its API keys."""
    print_text(run_with_pools(context.quiet_settings, lambda opened: _revoke(opened, name, user, _right(fill))))


def _right(fill: bool) -> PoolRight:
    return PoolRight.FILL if fill else PoolRight.TAKE


async def _grant(opened: OpenedPools, name: str, user: str, right: PoolRight) -> str:
    group, found = await opened.pools.group(name), await find_user(opened.db, user)
    await opened.pools.grant(group, found, right)
    return f"{found.name} may {ACTIONS[right]} {group.name}"


async def _revoke(opened: OpenedPools, name: str, user: str, right: PoolRight) -> str:
    group, found = await opened.pools.group(name), await find_user(opened.db, user)
    had = await opened.pools.revoke(group, found.id, right)
    still = "; as an admin they still do" if found.is_admin else ""
    return (
        f"{found.name} may {ACTIONS[right]} {group.name} no more{still}" if had else f"{found.name} had no such right"
    )
