"""The cursor of a program that keeps a copy of a user's entries: what it has got so far.

The program keeps it as an opaque text. It holds no secret and gives no right: whoever makes one up gets entries and
changes of their own twice, or not at all.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate, chain

import msgspec

from feedmill.errors import CallerError
from feedmill.i18n.messages import Message
from feedmill.model.entry_lists import ListPosition
from feedmill.model.max_id import MAX_ID
from feedmill.model.timestamps import to_iso
from feedmill.store.entries.sync.missing_ids import MOST_RANGES, IdRange

# Changes are noted with the time at which their request began. Longer than a batch takes, and than clocks differ.
OVERLAP = timedelta(minutes=5)
# A purge notes the time at which it began for all its entries.
PURGE_OVERLAP = timedelta(hours=6)
# Ids that may still be stored; usually there are a handful.
MOST_MISSING = 20_000
# Ranges of subscriptions of the last minutes, usually one. Entries of others come twice.
MOST_COMPLETE = 100
MAX_LENGTH = 6000

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class SyncCursor:
    """What a program has got.

    `last_id`: every entry up to this id, except `missing` ones, which may still be stored. `subscribed_at`: of
    subscriptions that were made since then and are not `complete`, only entries up to `filled_to`, as long as
    `newest_filled` is the newest of them. `changed` and `purged`: changes of marks, and purged entries, up to these
    positions.
    """

    last_id: int
    missing: tuple[IdRange, ...]
    subscribed_at: str
    complete: tuple[IdRange, ...]
    filled_to: int
    newest_filled: int
    changed: ListPosition
    purged: ListPosition


class BadSyncCursor(CallerError):
    """The cursor is not one that the server gave."""

    code = "bad_cursor"

    def __init__(self) -> None:
        super().__init__(Message("error.bad_cursor"))


def first_cursor(now: datetime) -> SyncCursor:
    """The cursor of a program that has no entries. It needs no changes from before now."""
    since = to_iso(now - OVERLAP)
    return SyncCursor(0, (), since, (), 0, 0, ListPosition(since, 0), ListPosition(to_iso(now - PURGE_OVERLAP), 0))


# The fields in order; ranges as the differences of their ends, which are short.
_Written = tuple[int, list[int], str, list[int], int, int, str, int, str, int]


def encode_cursor(cursor: SyncCursor) -> str:
    written: _Written = (
        cursor.last_id,
        _differences(cursor.missing),
        cursor.subscribed_at,
        _differences(cursor.complete),
        cursor.filled_to,
        cursor.newest_filled,
        cursor.changed.at,
        cursor.changed.entry_id,
        cursor.purged.at,
        cursor.purged.entry_id,
    )
    return urlsafe_b64encode(msgspec.json.encode(written)).decode().rstrip("=")


def decode_cursor(text: str) -> SyncCursor:
    """Raises `BadSyncCursor`."""
    if len(text) > MAX_LENGTH:
        raise BadSyncCursor
    try:
        written = msgspec.json.decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=_Written)
    except (ValueError, msgspec.MsgspecError):
        raise BadSyncCursor from None
    last_id, missing, subscribed_at, complete, filled_to, newest, changed_at, changed_id, purged_at, purged_id = written
    if not _are_valid((last_id, filled_to, newest, changed_id, purged_id), (subscribed_at, changed_at, purged_at)):
        raise BadSyncCursor
    changed, purged = ListPosition(changed_at, changed_id), ListPosition(purged_at, purged_id)
    ranges = _ranges(missing), _ranges(complete)
    cursor = SyncCursor(last_id, ranges[0], subscribed_at, ranges[1], filled_to, newest, changed, purged)
    if sum(last - first + 1 for first, last in cursor.missing) > MOST_MISSING:
        raise BadSyncCursor
    return cursor


def _are_valid(ids: Sequence[int], times: Sequence[str]) -> bool:
    return all(0 <= id <= MAX_ID for id in ids) and all(_TIME.fullmatch(at) for at in times)


def _differences(ranges: Sequence[IdRange]) -> list[int]:
    ends = list(chain.from_iterable(ranges))
    return [end - before for before, end in zip([0, *ends], ends, strict=False)]


def _ranges(differences: Sequence[int]) -> tuple[IdRange, ...]:
    """Raises `BadSyncCursor` for what `_differences` does not give."""
    ends = list(accumulate(differences))
    too_many = len(ends) > 2 * MOST_RANGES or len(ends) % 2
    if too_many or any(step < 0 for step in differences) or any(not 0 < end <= MAX_ID for end in ends):
        raise BadSyncCursor
    return tuple(zip(ends[::2], ends[1::2], strict=True))
