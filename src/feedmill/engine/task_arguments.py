"""Reads the arguments of tasks as other programs send them.

By position or by name, ids as numbers or as text, priorities as words. Arguments that a task does not know, such as the
URL and title of a feed, are ignored: the row in the database is authoritative.
"""

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

from feedmill.engine import task_names
from feedmill.engine.jobs import Priority
from feedmill.model.max_id import MAX_ID

# The order of positional arguments. Our own messages have names only.
POSITIONAL: Mapping[str, Sequence[str]] = {
    task_names.REFRESH_FEED: (
        "feed_id",
        "feed_url",
        "feed_title",
        "user_id",
        "refresh_interval",
        "priority",
        "skip_lock",
    ),
    task_names.START_BATCH: ("user_id", "feeds"),
    task_names.SCHEDULE_IMAGES: ("article_ids", "feed_id"),
}
PRIORITY_WORDS = {"manual": Priority.MANUAL, "new_feed": Priority.MANUAL, "normal": Priority.SCHEDULED}


def named_arguments(task: str, positional: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments by name; positional ones that the task does not have are dropped."""
    return dict(zip(POSITIONAL.get(task, ()), positional, strict=False)) | dict(named)


def known_arguments(function: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the function takes, besides the Celery task itself."""
    names = set(signature(function).parameters) - {"task"}
    return {name: value for name, value in arguments.items() if name in names}


def read_id(value: object) -> int | None:
    """An id that is a number or the digits of one; None for anything else, such as a UUID."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= len(str(MAX_ID)):
        value = int(value)
    is_id = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_ID
    return value if is_id else None  # type: ignore[return-value]


def read_priority(value: object) -> Priority:
    """A priority as a number or as a word; scheduled for anything else."""
    if isinstance(value, str):
        return PRIORITY_WORDS.get(value.strip().lower(), Priority.SCHEDULED)
    return Priority.MANUAL if value == Priority.MANUAL else Priority.SCHEDULED


def read_feed_ids(feeds: object) -> list[int]:
    """The ids of a list of ids or of feeds (mappings with an `id`); what is neither is left out."""
    if not isinstance(feeds, Sequence) or isinstance(feeds, str):
        return []
    found = [read_id(feed.get("id", feed.get("feed_id")) if isinstance(feed, Mapping) else feed) for feed in feeds]
    return [feed_id for feed_id in found if feed_id is not None]
