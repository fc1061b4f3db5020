"""`feedmill filter mute|follow|unmute`: mute or follow a word, an author or a site."""

from datetime import UTC, datetime
from typing import Any, get_args

import click

from feedmill.cli.actions.complete_names import complete_user
from feedmill.cli.filter.filter_options import AS_JSON, UNTIL, caller_of, find_scope, utc_time, with_scope
from feedmill.cli.filter.filter_records import filter_record
from feedmill.cli.filter.manage_filters import remove_filter
from feedmill.cli.filter.run_job import finish_job, report_job
from feedmill.cli.output.json_records import print_record
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.errors import CallerError
from feedmill.library.filters import mutes
from feedmill.library.filters.filter_jobs import apply_backwards
from feedmill.library.filters.manage_filters import filters_of_user
from feedmill.model.filters.entry_filter import EntryFilter, FilterKind, FilterSubject, SubjectKind
from feedmill.model.filters.filter_history import FilterJob
from feedmill.settings import Settings
from feedmill.store.database import Database

KIND = click.option(
    "--kind",
    type=click.Choice(get_args(SubjectKind)),
    default="word",
    help="What TEXT is; a word or phrase by default.",
)
STORED = click.option("--apply", "applies", is_flag=True, help="Also for the entries that are there.")


@click.command()
@click.argument("user", shell_complete=complete_user)
@click.argument("text")
@KIND
@with_scope
@UNTIL
@STORED
@AS_JSON
@pass_context
def mute(context: Context, /, user: str, as_json: bool, **given: Any) -> None:
    """Keep new entries with TEXT out of the unread lists of USER. The same again changes until when."""
    _add(context, user, FilterKind.MUTE, as_json, given)


@click.command()
@click.argument("user", shell_complete=complete_user)
@click.argument("text")
@KIND
@with_scope
@UNTIL
@STORED
@AS_JSON
@pass_context
def follow(context: Context, /, user: str, as_json: bool, **given: Any) -> None:
    """Show new entries with TEXT first in the unread lists of USER. The same again changes until when."""
    _add(context, user, FilterKind.FOLLOW, as_json, given)


@click.command()
@click.argument("user", shell_complete=complete_user)
@click.argument("text")
@pass_context
def unmute(context: Context, user: str, text: str) -> None:
    """Mute or follow TEXT no longer: what was hidden is unread again, unless USER read it."""
    settings = context.quiet_settings
    removed = run_with_database(settings, lambda db: _remove(db, settings, user, text))
    print_text(f"{removed.name} is no longer {'muted' if removed.kind is FilterKind.MUTE else 'followed'}")


def _add(context: Context, user: str, kind: FilterKind, as_json: bool, given: dict[str, Any]) -> None:
    settings = context.quiet_settings
    (made, before), job = run_with_database(settings, lambda db: _add_subject(db, settings, user, kind, as_json, given))
    if as_json:
        print_record(filter_record(made))
    else:
        until = f" until {made.expires_at}" if made.expires_at else ""
        was = f" (before: {_period(before)})" if before else ""
        print_text(f"{made.name} is {'muted' if kind is FilterKind.MUTE else 'followed'}{until}{was}")
    report_job(job, as_json)


def _period(own: EntryFilter) -> str:
    until = f"until {own.expires_at}" if own.expires_at else "for good"
    return until if own.enabled else f"{until}, but turned off"


async def _add_subject(
    db: Database, settings: Settings, user: str, kind: FilterKind, as_json: bool, given: dict[str, Any]
) -> tuple[mutes.MuteResult, FilterJob | None]:
    user_id, now = (await caller_of(db, user)).user.id, datetime.now(UTC)
    scope = await find_scope(db, user_id, given["feed"], given["folder"])
    period = mutes.FilterPeriod(utc_time(given["until"]), scope)
    add = mutes.mute if kind is FilterKind.MUTE else mutes.follow
    made = await add(db, user_id, FilterSubject(given["kind"], given["text"]), now, period)
    if not given["applies"]:
        return made, None
    job = await apply_backwards(db, user_id, made.filter.id, now)
    return made, await finish_job(db, settings, job, user_id, as_json)


async def _remove(db: Database, settings: Settings, user: str, text: str) -> EntryFilter:
    found = await filters_of_user(db, (await caller_of(db, user)).user.id)
    name = " ".join(text.split())
    named = [each for each in found if each.kind is not FilterKind.FILTER and each.name == name]
    if not named:
        raise CallerError(f"{name} is neither muted nor followed: 'feedmill filter list {user}' lists what is")
    if len(named) > 1:
        ids = ", ".join(str(each.id) for each in named)
        raise CallerError(f"there are several ({ids}): 'feedmill filter remove {user} ID --revert' removes one")
    await remove_filter(db, settings, user, named[0].id, True, False)
    return named[0]
