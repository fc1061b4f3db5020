"""`feedmill mcp`: the MCP server on standard input and output, for an assistant on this machine."""

import click

from feedmill.app import App
from feedmill.cli.actions.complete_names import complete_user
from feedmill.cli.actions.find_user import UnknownUser, find_user
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_app import run_with_app
from feedmill.model.user import ACTIVE, POOLS, READ, WRITE, Caller
from feedmill.optional_imports import check_installed, import_by_name

SERVE_STDIO = "feedmill.serve.mcp.stdio:serve_stdio"
ALL_SCOPES = frozenset({READ, WRITE, POOLS})


@click.command()
@click.argument("user", shell_complete=complete_user)
@click.option("--read-only", is_flag=True, help="Offer only the tools that change nothing.")
@pass_context
def mcp(context: Context, user: str, read_only: bool) -> None:
    """Let an assistant on this machine read and sort the feeds of USER.

    The program of the assistant starts this command and speaks MCP with it on standard input and output. A server may
    be running.
    """
    check_installed("mcp")
    scopes = frozenset({READ}) if read_only else ALL_SCOPES

    async def serve(app: App) -> None:
        await _caller(app, user, scopes)
        await import_by_name(SERVE_STDIO)(app, lambda: _caller(app, user, scopes))

    run_with_app(context.quiet_settings, serve)


async def _caller(app: App, name: str, scopes: frozenset[str]) -> Caller:
    """The user as they are now: a disabled account ends the service."""
    user = await find_user(app.db, name)
    if user.status != ACTIVE:
        raise UnknownUser(f"the account {name} is disabled")
    return Caller(user, scopes & user.scopes)
