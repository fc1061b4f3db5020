"""Generates docs/reference/keys.md: the keys in Redis and in the object store, from the functions that make them."""

from datetime import UTC, datetime, timedelta

from feedmill.archive import store_ownership
from feedmill.archive import object_keys
from feedmill.coordination.locks import LOCK_LENGTH, feed_lock, schedule_lock
from feedmill.coordination.pool_queues import (
    FILL_LOCK_LENGTH,
    fill_lock_name,
    list_state_name,
    pool_list_name,
    used_ids_name,
)
from feedmill.coordination.presence import PRESENCE_TIMEOUT
from feedmill.coordination.redis_slots_and_locks import host_key, pause_key
from feedmill.coordination.redis_presence import PRESENCE_KEY
from feedmill.engine.celery_app import RESULT_EXPIRY
from feedmill.engine.task_names import QUEUES
from feedmill.model.pool import PoolKind
from reference import MADE, row

INTRODUCTION = """\
The last column says what other programs may do: `take` items, `add` items, `read`, or nothing (–), because the key may
change with any version.
"""

REDIS = """\
Only with the setting `redis`. All of it may be lost at any time: due feeds, claims, pool items and batches are in the
database, and Redis is filled again automatically. A lost list from which other programs `RPOP` needs a
[decision](../running/pools.md#after-a-crash), so let Redis evict nothing (`maxmemory-policy noeviction`).
"""

OBJECTS = """\
In the folder `objects` of the data folder, or below the prefix in the bucket. Images and raw bodies are stored
unchanged.
"""

FEED, GROUP, GUID, AT = 42, 7, "https://example.org/1", datetime(2026, 2, 18, 8, 30, tzinfo=UTC)

BODY_DIGEST = "0a1b2c3d4e5f6071"

# The example's values and their placeholders, the longer ones first.
_VALUES = {
    object_keys.full_image_key(FEED, GUID, 0, "png").split("/")[2]: "{first 8 of md5}-{first 32 of sha256}",
    object_keys.guid_digest(GUID): "{first 8 of md5}",
    object_keys.pushed_body_key(FEED, AT, BODY_DIGEST).rpartition("/")[2]: "{time}-{first 16 of sha256}.xml",
    object_keys.raw_body_key(FEED, AT).rpartition("/")[2]: "{time}.xml",
    f"/{FEED}": "/{feed_id}",
    "0.png": "{index}.{ext}",
}


def page() -> str:
    parts = ["# Keys", "", MADE, "", INTRODUCTION, "## Redis", "", REDIS]
    parts += [row("key", "what", "how long", "for programs"), "|---|---|---|---|", *(row(*one) for one in _redis())]
    parts += ["", "## Objects", "", OBJECTS]
    parts += [row("key", "example", "what", "for programs"), "|---|---|---|---|", *(row(*one) for one in _objects())]
    return "\n".join([*parts, ""])


def _redis() -> list[tuple[str, str, str, str]]:
    titles = pool_list_name(PoolKind.TITLES, GROUP)
    return [
        (_form(feed_lock(FEED)), "a job refreshes the feed; the value is the job's id. Setting it by hand has no "
         "effect: the claim in the database decides", _span(LOCK_LENGTH), "read"),
        (_form(schedule_lock(FEED)), "a job for the feed is being sent", "a moment", "read"),
        (_form(host_key("{host}")), "who has the turn at a host, and when the next one may start: a hash",
         "the turn and the pause after it", "read"),
        (_form(pause_key("domain:{domain}")), "no requests to this domain: it answered 429", "as the server asked, "
         "at most 7 days", "–"),
        (_form(pause_key("url:{hash}")), "no requests to this URL: it answered 503", "the same", "–"),
        *((_form(pool_list_name(kind, GROUP)), f'the {kind} of a pool, for `RPOP`: `{{"id": 12345, "text": "…"}}`',
           "until taken", "take") for kind in PoolKind),
        (_form(used_ids_name(titles)), "ids that programs have used, which they `LPUSH` here; the same for `contents`",
         "until read", "add"),
        (_form(fill_lock_name(titles)), "a process fills the list; the same for `contents`", _span(FILL_LOCK_LENGTH),
         "read"),
        (_form(list_state_name(titles)), "the token of the list, and the length that it has unless others take from it: "
         "a hash; the same for `contents`", "as the list", "–"),
        *((f"`{queue}`", "messages for workers, in Celery's format "
           "([tasks](../running/scaled-out.md#for-other-programs))", "until done", "add") for queue in QUEUES),
        ("`celery-task-meta-{id}`", "the result of a message", _span(RESULT_EXPIRY), "read"),
        (_form(PRESENCE_KEY), "the running processes: a sorted set",
         f"each {_span(PRESENCE_TIMEOUT)} after its last heartbeat", "–"),
    ]  # fmt: skip


def _objects() -> list[tuple[str, str, str, str]]:
    image, full = object_keys.image_key(FEED, GUID, 0, "png"), object_keys.full_image_key(FEED, GUID, 0, "png")
    backup, descriptor = object_keys.raw_body_key(FEED, AT), object_keys.descriptor_key(FEED)
    pushed = object_keys.pushed_body_key(FEED, AT, BODY_DIGEST)
    return [
        (_object_form(image), f"`{image}`", "an image of an entry, counted from 0; the folder is the beginning of the "
         "MD5 of the entry's guid", "read"),
        (_object_form(full), f"`{full}`", "the same, if another entry of the feed already has that folder", "read"),
        (_object_form(backup), f"`{backup}`", "a raw body of the feed, by the time of its fetch; kept for `raw_days`", "read"),
        (_object_form(pushed), f"`{pushed}`", "a raw body that a WebSub hub pushed, with the beginning of its SHA-256; kept "
         "for `raw_days`", "read"),
        (_object_form(descriptor), f"`{descriptor}`", "the descriptor of the feed, from which a lost database can be rebuilt",
         "read"),
        (_object_form(store_ownership.OWNER_KEY), "", "the database that owns the store", "–"),
    ]  # fmt: skip


def _form(key: str) -> str:
    return f"`{key.replace(str(FEED), '{feed_id}').replace(str(GROUP), '{group_id}')}`"


def _object_form(key: str) -> str:
    """The key with placeholders in place of the example's values."""
    for value, name in _VALUES.items():
        key = key.replace(value, name)
    return f"`{key}`"


def _span(length: timedelta) -> str:
    hours, seconds = divmod(int(length.total_seconds()), 3600)
    return f"{hours} h" if hours and not seconds else f"{int(length.total_seconds())} s"
