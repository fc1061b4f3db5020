"""Conditions of a search other than words, as SQL, and the condition that a user may see an entry."""

from collections.abc import Callable

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Exists,
    String,
    and_,
    bindparam,
    exists,
    func,
    not_,
    or_,
    true,
)

from feedmill.store.dialect import one_of
from feedmill.store.entries.visibility import has_state, is_kept_for_later, is_starred, is_visible
from feedmill.store.schema import (
    entries,
    entry_labels,
    feeds,
    image_tasks,
    unread,
    users,
)
from feedmill.store.search.index_table import place_of_second
from feedmill.store.search.split_query import ConditionShape

Sql = ColumnElement[bool]

_user = bindparam("user_id", type_=BigInteger())
_image = exists().where(image_tasks.c.entry_id == entries.c.id)
_unread = exists().where(
    users.c.id == _user,
    unread.c.list_id == users.c.unread_list_id,
    unread.c.sort_at == entries.c.sort_at,
    unread.c.entry_id == entries.c.id,
)
may_see: Sql = is_visible(_user)


def _carries(media: str) -> Sql:
    # NULL LIKE … is NULL, which would match neither the condition nor its negation.
    return and_(entries.c.enclosures.is_not(None), entries.c.enclosures.like(f'%:"{media}/%'))


_KINDS: dict[str, Sql] = {
    "unread": _unread,
    "read": ~_unread,
    "starred": has_state(_user).where(is_starred),
    "later": has_state(_user).where(is_kept_for_later),
    "archived": _image.where(image_tasks.c.object_key.is_not(None)),
    "image": or_(entries.c.image_url.is_not(None), _image, _carries("image")),
    "audio": _carries("audio"),
    "video": _carries("video"),
    "enclosure": entries.c.enclosures.is_not(None),
}


def sql_of(shape: ConditionShape, place: ColumnElement[int], text: Callable[[ConditionShape], Sql]) -> Sql:
    """The condition of a shape; `text` makes the condition of words."""
    match shape.kind:
        case "all" | "dated":
            return and_(true(), *(sql_of(part, place, text) for part in shape.parts))
        case "any":
            return or_(*(sql_of(part, place, text) for part in shape.parts))
        case "not":
            return not_(sql_of(shape.parts[0], place, text))
        case "text":
            return text(shape)
        case "since":
            return place >= place_of_second(shape.name)
        case "until":
            return place < place_of_second(shape.name)
        case "language":
            return _in_language(shape.name)
        case "feeds":
            return one_of(entries.c.feed_id, shape.name)
        case "labels":
            return _has_label(shape.name)
        case kind:
            return _KINDS[kind]


def _in_language(name: str) -> Sql:
    code = bindparam(name, type_=String())

    def is_language(column: ColumnElement[str]) -> Sql:
        return or_(func.lower(column) == code, func.lower(column).like(code + "-%"))

    of_feed = exists().where(feeds.c.id == entries.c.feed_id, is_language(feeds.c.language))
    # An unknown language does not match. NULL would match neither the condition nor its negation.
    return func.coalesce(is_language(entries.c.language), of_feed)


def _has_label(name: str) -> Exists:
    return exists().where(entry_labels.c.entry_id == entries.c.id, one_of(entry_labels.c.label_id, name))
