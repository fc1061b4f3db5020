"""`feedmill filter try`: what a condition matches among the entries that are there."""

from datetime import UTC, datetime

import click

from feedmill.cli.actions.complete_names import complete_user
from feedmill.cli.filter.filter_options import AS_JSON, caller_of, find_scope, with_scope
from feedmill.cli.filter.filter_records import trial_record
from feedmill.cli.output.format_text import pluralize
from feedmill.cli.output.json_records import print_record
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.library.filters.try_filter import FIRST, FilterTrial, try_filter
from feedmill.store.database import Database


@click.command(name="try", short_help="Show what a CONDITION matches among the entries of USER.")
@click.argument("user", shell_complete=complete_user)
@click.argument("condition")
@with_scope
@click.option("--first", type=click.IntRange(0, FIRST), default=10, help="The newest that are printed; 10 by default.")
@AS_JSON
@pass_context
def try_condition(
    context: Context, user: str, condition: str, feed: str | None, folder: str | None, first: int, as_json: bool
) -> None:
    """Show what a CONDITION matches among the entries of USER: how many, in which feeds, the newest. Saves nothing."""
    trial = run_with_database(context.quiet_settings, lambda db: _try(db, user, condition, feed, folder))
    if as_json:
        print_record(trial_record(trial, first))
        return
    print_text(f"{pluralize(trial.total, 'entry', 'entries')} would match", bold=True)
    if not trial.is_complete:
        print_text(f"looked no further back than {trial.oldest_at or 'the newest entries'}: there are too many entries")
    for each in trial.feeds:
        print_text(f"{each.count:>7}  {each.title or 'feeds that were left'}")
    for entry in trial.entries[:first]:
        print_text(f"{entry.published_at[:10]}  {entry.id}  {entry.title}")


async def _try(db: Database, user: str, condition: str, feed: str | None, folder: str | None) -> FilterTrial:
    user_id = (await caller_of(db, user)).user.id
    scope = await find_scope(db, user_id, feed, folder)
    return await try_filter(db, user_id, condition, scope, datetime.now(UTC))
