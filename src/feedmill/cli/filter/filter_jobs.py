"""`feedmill filter apply|undo`: apply a filter to the entries that are there, and take it back."""

from datetime import UTC, datetime

import click

from feedmill.cli.actions.complete_names import complete_user
from feedmill.cli.filter.filter_options import AS_JSON, caller_of
from feedmill.cli.filter.run_job import finish_job, report_job
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.library.filters.filter_jobs import apply_backwards, undo_job
from feedmill.model.filters.filter_history import FilterJob
from feedmill.settings import Settings
from feedmill.store.database import Database


@click.command()
@click.argument("user", shell_complete=complete_user)
@click.argument("id", type=click.IntRange(min=1))
@AS_JSON
@pass_context
def apply(context: Context, user: str, id: int, as_json: bool) -> None:
    """Apply the filter ID of USER to the entries that are there. Ctrl-C stops it; what was done can be undone."""
    settings = context.quiet_settings
    report_job(run_with_database(settings, lambda db: _apply(db, settings, user, id, as_json)), as_json)


@click.command()
@click.argument("user", shell_complete=complete_user)
@click.argument("job", type=click.IntRange(min=1))
@AS_JSON
@pass_context
def undo(context: Context, user: str, job: int, as_json: bool) -> None:
    """Take back what the JOB of 'feedmill filter apply' changed, except what USER changed since.

    'feedmill filter show USER ID' lists the jobs of a filter.
    """
    settings = context.quiet_settings
    report_job(run_with_database(settings, lambda db: _undo(db, settings, user, job, as_json)), as_json)


async def _apply(db: Database, settings: Settings, user: str, id: int, as_json: bool) -> FilterJob:
    user_id = (await caller_of(db, user)).user.id
    job = await apply_backwards(db, user_id, id, datetime.now(UTC))
    return await finish_job(db, settings, job, user_id, as_json)


async def _undo(db: Database, settings: Settings, user: str, job_id: int, as_json: bool) -> FilterJob:
    user_id = (await caller_of(db, user)).user.id
    job = await undo_job(db, user_id, job_id, datetime.now(UTC))
    return await finish_job(db, settings, job, user_id, as_json)
