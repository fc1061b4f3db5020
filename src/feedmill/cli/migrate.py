"""`feedmill migrate`: bring the database schema up to date."""

import asyncio

import click

from feedmill.adapters.database import open_database
from feedmill.cli.startup.context import Context, pass_context
from feedmill.settings import Settings
from feedmill.store.migrations import Migration
from feedmill.store.migrations import migrate as bring_up_to_date


@click.command()
@pass_context
def migrate(context: Context) -> None:
    """Bring the database schema up to date (serve does this by itself)."""
    done = asyncio.run(_migrate(context.settings))
    for migration in done:
        click.echo(f"applied {migration.version:04} {migration.name}")
    if not done:
        click.echo("nothing to do: the schema is up to date")


async def _migrate(settings: Settings) -> list[Migration]:
    db = open_database(settings)
    try:
        return await bring_up_to_date(db)
    finally:
        await db.close()
