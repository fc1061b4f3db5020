"""Mutes and follows: filters that are made from a word, an author or a site, for a time or for good.

A mute hides what matches, and no other filter acts on it. A follow raises it to the top, and no mute hides it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.filters.conditions import parse_condition
from feedmill.library.filters.filter_jobs import find_filter_job, undo_job
from feedmill.library.filters.manage_filters import check_expiry, check_scope, find_filter, no_such_filter
from feedmill.library.users.limits import check_count_limit
from feedmill.model.filters.entry_filter import (
    ALL_FEEDS,
    EntryFilter,
    FilterActions,
    FilterDraft,
    FilterKind,
    FilterScope,
    FilterSubject,
)
from feedmill.store.database import Database
from feedmill.store.filters import filters as store
from feedmill.store.search.tokenizer import words_of

LONGEST_SUBJECT = 100

_ACTIONS = {
    FilterKind.MUTE: FilterActions(hide=True),
    FilterKind.FOLLOW: FilterActions(raise_to_top=True),
}
_FIELDS = {"word": "", "author": "author:", "site": "site:"}


@dataclass(frozen=True, slots=True)
class FilterPeriod:
    """For how long and in which feeds a mute or a follow holds."""

    until: datetime | None = None
    scope: FilterScope = ALL_FEEDS


FOR_GOOD = FilterPeriod()


class MuteResult(NamedTuple):
    """A mute or a follow. `before`: as it was, if it was there already and was changed."""

    filter: EntryFilter
    before: EntryFilter | None


class FormerPeriod(NamedTuple):
    """Until when a mute or a follow held, and whether it was on. `job_id`: the job that the change started."""

    until: datetime | None
    enabled: bool
    job_id: int | None = None


async def mute(
    db: Database, user_id: int, subject: FilterSubject, now: datetime, period: FilterPeriod = FOR_GOOD
) -> MuteResult:
    """Hides new entries with this subject from unread lists; the same again changes until when."""
    return await _add(db, user_id, FilterKind.MUTE, subject, now, period)


async def follow(
    db: Database, user_id: int, subject: FilterSubject, now: datetime, period: FilterPeriod = FOR_GOOD
) -> MuteResult:
    """Raises new entries with this subject to the top of unread lists; the same again changes until when."""
    return await _add(db, user_id, FilterKind.FOLLOW, subject, now, period)


async def change_until(
    db: Database, user_id: int, filter_id: int, until: datetime | None, now: datetime
) -> EntryFilter:
    """Changes until when a mute or a follow holds, also one that has ended."""
    check_expiry(until, now)
    if not await store.set_filter_expiry(db, user_id, filter_id, until):
        raise no_such_filter()
    return await find_filter(db, user_id, filter_id)


async def restore_period(
    db: Database, user_id: int, filter_id: int, former: FormerPeriod, now: datetime
) -> EntryFilter:
    """Takes back a change of a mute or a follow, and what the job that came with it did."""
    own = await find_filter(db, user_id, filter_id)
    if own.subject is None:
        raise no_such_filter()
    draft = FilterDraft(own.name, own.condition, own.scope, own.actions, own.stops, former.enabled, former.until)
    # Ends the job, if it still runs.
    await store.save_filter(db, user_id, filter_id, draft, now)
    if former.job_id is not None and (await find_filter_job(db, user_id, former.job_id)).can_undo:
        await undo_job(db, user_id, former.job_id, now)
    return await find_filter(db, user_id, filter_id)


async def _add(
    db: Database, user_id: int, kind: FilterKind, subject: FilterSubject, now: datetime, period: FilterPeriod
) -> MuteResult:
    check_expiry(period.until, now)
    await check_scope(db, user_id, period.scope)
    text = " ".join(subject.text.split())
    condition = _condition(subject.kind, text)
    for known in await store.filters_of(db, user_id):
        if (known.kind, known.condition, known.scope) == (kind, condition, period.scope):
            return MuteResult(await change_until(db, user_id, known.id, period.until, now), known)
    await check_count_limit(db, user_id, "filters")
    await parse_condition(db, user_id, condition, now)
    draft = FilterDraft(
        text, condition, period.scope, _ACTIONS[kind], stops=kind is FilterKind.MUTE, expires_at=period.until
    )
    return MuteResult(await store.add_filter(db, user_id, kind, draft, FilterSubject(subject.kind, text), now), None)


def _condition(kind: str, text: str) -> str:
    """The condition of a subject; raises `BadInput` if it has no word."""
    quoted = text.translate({ord(sign): " " for sign in '"“”'})
    if len(text) > LONGEST_SUBJECT or not words_of(quoted):
        raise BadInput(Message("error.filter_subject", n=LONGEST_SUBJECT), "text")
    return f'{_FIELDS[kind]}"{" ".join(quoted.split())}"'
