"""`feedmill filter list|show|add|edit|remove|enable|disable|order`: manage the filters of a user."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import click

from feedmill.cli.actions.complete_names import complete_user
from feedmill.cli.filter.filter_options import (
    AS_JSON,
    UNTIL,
    ChosenActions,
    caller_of,
    chosen_actions,
    find_scope,
    utc_time,
    with_actions,
    with_scope,
)
from feedmill.cli.filter.filter_records import COLUMNS, filter_record, filter_row, job_record, job_text
from feedmill.cli.filter.run_job import finish_job, report_job
from feedmill.cli.output.json_records import print_record
from feedmill.cli.output.print_table import print_table
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.errors import CallerError
from feedmill.library.filters import manage_filters as own
from feedmill.library.filters.effects import FilterHitPage, hits_of_filter
from feedmill.library.filters.filter_jobs import apply_backwards, jobs_of_filter
from feedmill.model.filters.entry_filter import ALL_FEEDS, EntryFilter, FilterDraft
from feedmill.model.filters.filter_history import FilterJob
from feedmill.model.timestamps import from_iso
from feedmill.settings import Settings
from feedmill.store.database import Database

HITS_SHOWN = 10
Found = tuple[EntryFilter, FilterHitPage, list[FilterJob]]

ID = click.argument("id", type=click.IntRange(min=1))
REVERT = click.option("--revert", is_flag=True, help="Also take back what it did, except what USER changed since.")


@click.command(name="list")
@click.argument("user", shell_complete=complete_user)
@AS_JSON
@pass_context
def list_filters(context: Context, user: str, as_json: bool) -> None:
    """List the filters, mutes and follows of USER, in their order."""
    found, now = run_with_database(context.quiet_settings, lambda db: _list(db, user)), datetime.now(UTC)
    if as_json:
        for each in found:
            print_record(filter_record(each))
    elif found:
        print_table(COLUMNS, [filter_row(each, now) for each in found], wide=("name", "condition"))
    else:
        print_text("there are no filters: 'feedmill filter add USER CONDITION' creates one")


@click.command()
@click.argument("user", shell_complete=complete_user)
@ID
@AS_JSON
@pass_context
def show(context: Context, user: str, id: int, as_json: bool) -> None:
    """Show the filter ID of USER with the last entries that it matched, and its jobs."""
    found, hits, jobs = run_with_database(context.quiet_settings, lambda db: _show(db, user, id))
    if as_json:
        matched = [{"id": hit.entry.id, "title": hit.entry.title, "at": hit.at} for hit in hits.items]
        print_record(filter_record(found) | {"last": matched, "jobs": [job_record(job) for job in jobs]})
        return
    for name, value in zip(COLUMNS, filter_row(found, datetime.now(UTC)), strict=True):
        print_text(f"{name:<11}{value}")
    for hit in hits.items:
        print_text(f"{hit.at[:10]}  {hit.entry.id}  {hit.entry.title}")
    for job in jobs:
        print_text(job_text(job))


@click.command(short_help="Create a filter of USER for entries that match a CONDITION.")
@click.argument("user", shell_complete=complete_user)
@click.argument("condition")
@click.option("--name", help="Its name; by default the condition.")
@with_scope
@with_actions
@click.option("--stop", "stops", is_flag=True, help="Later filters leave alone what it matches.")
@UNTIL
@click.option("--apply", "applies", is_flag=True, help="Also apply it to the entries that are there.")
@AS_JSON
@pass_context
def add(context: Context, /, user: str, condition: str, applies: bool, as_json: bool, **given: Any) -> None:
    """Create a filter of USER for new entries that match a CONDITION of the search language, and print its id.

    At least one action is needed, such as --star. 'feedmill filter try USER CONDITION' says first what would match.
    """
    settings, actions = context.quiet_settings, chosen_actions(given)
    made, job = run_with_database(
        settings, lambda db: _add(db, settings, user, condition, actions, applies, as_json, given)
    )
    _print_saved(made, as_json, "created")
    report_job(job, as_json)


@click.command(short_help="Change the filter ID of USER.")
@click.argument("user", shell_complete=complete_user)
@ID
@click.option("--condition", help="Another condition.")
@click.option("--name", help="Another name.")
@with_scope
@click.option("--everywhere", is_flag=True, help="Entries of all feeds.")
@with_actions
@click.option("--stop/--no-stop", "stops", default=None, help="Whether later filters leave alone what it matches.")
@UNTIL
@click.option("--for-good", is_flag=True, help="It does not end.")
@AS_JSON
@pass_context
def edit(context: Context, /, user: str, id: int, as_json: bool, **given: Any) -> None:
    """Change the filter ID of USER, for entries that arrive from now on. What is not named stays as it is.

    Actions replace all that it did so far: name each that it shall do.
    """
    actions = chosen_actions(given)
    changed = run_with_database(context.quiet_settings, lambda db: _edit(db, user, id, actions, given))
    _print_saved(changed, as_json, "changed")


@click.command()
@click.argument("user", shell_complete=complete_user)
@ID
@REVERT
@AS_JSON
@pass_context
def remove(context: Context, user: str, id: int, revert: bool, as_json: bool) -> None:
    """Delete the filter, mute or follow ID of USER. What it did stays, unless --revert takes it back."""
    settings = context.quiet_settings
    job = run_with_database(settings, lambda db: remove_filter(db, settings, user, id, revert, as_json))
    _print_done(f"filter {id} is deleted", job, as_json)


@click.command()
@click.argument("user", shell_complete=complete_user)
@ID
@pass_context
def enable(context: Context, user: str, id: int) -> None:
    """Turn the filter ID of USER on again, for entries that arrive from now on."""
    settings = context.quiet_settings
    run_with_database(settings, lambda db: _switch(db, settings, user, id, True, False, False))
    print_text(f"filter {id} is on")


@click.command()
@click.argument("user", shell_complete=complete_user)
@ID
@REVERT
@AS_JSON
@pass_context
def disable(context: Context, user: str, id: int, revert: bool, as_json: bool) -> None:
    """Turn the filter ID of USER off. What it did stays, unless --revert takes it back."""
    settings = context.quiet_settings
    job = run_with_database(settings, lambda db: _switch(db, settings, user, id, False, revert, as_json))
    _print_done(f"filter {id} is off", job, as_json)


@click.command()
@click.argument("user", shell_complete=complete_user)
@click.argument("ids", type=click.IntRange(min=1), nargs=-1, required=True)
@pass_context
def order(context: Context, user: str, ids: tuple[int, ...]) -> None:
    """Put the filters IDS of USER first, in this order; the others follow in theirs."""
    found = run_with_database(context.quiet_settings, lambda db: _order(db, user, ids))
    print_text("the order is now: " + ", ".join(f"{each.id} {each.name}" for each in found))


def _print_saved(saved: EntryFilter, as_json: bool, done: str) -> None:
    if as_json:
        print_record(filter_record(saved))
    else:
        print_text(f"filter {saved.id} is {done}: {saved.name}")


def _print_done(text: str, job: FilterJob | None, as_json: bool) -> None:
    if not as_json:
        print_text(text)
    report_job(job, as_json)


async def _list(db: Database, user: str) -> list[EntryFilter]:
    return await own.filters_of_user(db, (await caller_of(db, user)).user.id)


async def _show(db: Database, user: str, id: int) -> Found:
    user_id = (await caller_of(db, user)).user.id
    found = await own.find_filter(db, user_id, id)
    return found, await hits_of_filter(db, user_id, id, HITS_SHOWN), await jobs_of_filter(db, user_id, id)


async def _add(
    db: Database,
    settings: Settings,
    user: str,
    condition: str,
    actions: ChosenActions,
    applies: bool,
    as_json: bool,
    given: dict[str, Any],
) -> tuple[EntryFilter, FilterJob | None]:
    if actions.is_empty:
        raise CallerError("name what it does with these entries, such as --star: see 'feedmill filter add --help'")
    who, now = await caller_of(db, user), datetime.now(UTC)
    scope = await find_scope(db, who.user.id, given["feed"], given["folder"])
    name = given["name"] or condition[: own.LONGEST_NAME]
    until = utc_time(given["until"])
    draft = FilterDraft(name, condition, scope, await actions.resolve(db, who), given["stops"], expires_at=until)
    made = await own.create_filter(db, who, draft, now)
    if not applies:
        return made, None
    job = await apply_backwards(db, who.user.id, made.id, now)
    return made, await finish_job(db, settings, job, who.user.id, as_json)


async def _edit(db: Database, user: str, id: int, actions: ChosenActions, given: dict[str, Any]) -> EntryFilter:
    who = await caller_of(db, user)
    before = await own.find_filter(db, who.user.id, id)
    until = from_iso(before.expires_at) if before.expires_at else None
    draft = FilterDraft(
        given["name"] or before.name,
        given["condition"] or before.condition,
        before.scope,
        before.actions if actions.is_empty else await actions.resolve(db, who),
        before.stops if given["stops"] is None else given["stops"],
        before.enabled,
        None if given["for_good"] else utc_time(given["until"]) or until,
    )
    if given["everywhere"]:
        draft = replace(draft, scope=ALL_FEEDS)
    elif given["feed"] or given["folder"]:
        draft = replace(draft, scope=await find_scope(db, who.user.id, given["feed"], given["folder"]))
    return await own.change_filter(db, who, id, draft, datetime.now(UTC))


async def remove_filter(
    db: Database, settings: Settings, user: str, id: int, revert: bool, as_json: bool
) -> FilterJob | None:
    user_id = (await caller_of(db, user)).user.id
    job = await own.delete_filter(db, user_id, id, datetime.now(UTC), revert=revert)
    return await finish_job(db, settings, job, user_id, as_json) if job else None


async def _switch(
    db: Database, settings: Settings, user: str, id: int, enabled: bool, revert: bool, as_json: bool
) -> FilterJob | None:
    user_id = (await caller_of(db, user)).user.id
    job = await own.enable_filter(db, user_id, id, datetime.now(UTC), enabled=enabled, revert=revert)
    return await finish_job(db, settings, job, user_id, as_json) if job else None


async def _order(db: Database, user: str, ids: Sequence[int]) -> list[EntryFilter]:
    user_id = (await caller_of(db, user)).user.id
    await own.order_filters(db, user_id, ids)
    return await own.filters_of_user(db, user_id)
