"""Search on PostgreSQL: a text of words, and a GIN index of them.

The index finds texts by their words. Phrases and words of one field are then looked for in the text, which is less
than half the size of a tsvector with positions.
"""

# ruff: noqa: S608 (what is put together here are constants)

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import (
    REAL,
    BigInteger,
    BindParameter,
    ColumnElement,
    DateTime,
    Double,
    FromClause,
    Integer,
    Select,
    String,
    and_,
    bindparam,
    cast,
    false,
    func,
    literal_column,
    not_,
    or_,
    select,
    text,
    true,
    union_all,
)
from sqlalchemy.types import UserDefinedType

from feedmill.model.search_query import And, Not, Or, SearchCondition, TextMatch
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.entries.visibility import marked_entry_ids
from feedmill.store.literal_limits import literal_number
from feedmill.store.schema import entries, feeds, subscriptions
from feedmill.store.search.conditions import Sql
from feedmill.store.search.driving_index import (
    FEW_SUBSCRIPTIONS,
    VISIBLE,
    VISIBLE_BY_DATE,
    WORDS,
    find_narrow_condition,
    is_few,
    sees_few_entries,
)
from feedmill.store.search.index_table import EARLIEST, IDS_PER_SECOND, IF_UNCHANGED, LATEST, search_texts
from feedmill.store.search.search_dialect import IndexSql, SearchDialect, SearchStart, by_score
from feedmill.store.search.split_query import ConditionShape, PreparedSearch, no_text

# Up to this many matches are always fetched.
RARE = 5_000
# Checking one text during a scan by date takes as long as fetching this many matches from the index.
LOOK = 3
# As many if the text of each match must be checked as well.
LOOK_FOR_PHRASES = 1
# Sorting this many entries of the user by date takes as long as fetching one match.
SORT = 0.4
# Below this share of all entries a user's own are sorted by date, unless there are too many.
SMALL_SHARE = 0.1
MOST_SORTED = 500_000
# As many of the newest texts are looked at to see whether words occur together.
NEWEST = 1_000

# The fields of a text of words, as `split_part` counts them, and before and behind each this mark.
_MARK = "|"
_FIELDS: dict[str, int] = {"title": 2, "author": 3, "text": 4}
_ENTRY_ID = "(SELECT id FROM entries WHERE feed_id = CAST(:feed_id AS bigint) AND guid = CAST(:guid AS text))"
_PLACE = f"CAST(:seconds AS bigint) * {IDS_PER_SECOND} + "
# Each word stands between two single spaces: phrases are found by `strpos`, words by the index of their array.
_TEXT = (
    f"concat_ws(' ', '{_MARK}', nullif(CAST(:title AS text), ''), '{_MARK}', nullif(CAST(:author AS text), ''), "
    f"'{_MARK}', nullif(CAST(:words AS text), ''), '{_MARK}')"
)
# Ranks as ts_rank does for a single word (1 for a title, 0.4, 0.1, each occurrence less by the square of its number):
# the sum of 1/n² is about 1/0.608 - 1/(n + 0.608).
_RANK_START = 0.608


class TsQuery(UserDefinedType[str]):
    """The type `tsquery`. SQLAlchemy has it only in its PostgreSQL dialect, which takes megabytes."""

    cache_ok = True

    def get_col_spec(self, **kw: Any) -> str:
        return "tsquery"


def tsquery(condition: SearchCondition) -> str | None:
    """The words that every match has or lacks, as a tsquery; None if there are none.

    The index has neither fields nor the order of words.
    """
    match condition:
        case TextMatch(words, _, prefix):
            return f"({' & '.join(map(_lexeme, words))}{':*' if prefix else ''})"
        case Or(parts):
            any_of = [tsquery(part) for part in parts]
            return None if None in any_of else f"({' | '.join(filter(None, any_of))})"
        case And(parts):
            all_of = list(filter(None, map(tsquery, parts)))
            return f"({' & '.join(all_of)})" if all_of else None
        case Not(part):
            return f"!{tsquery(part)}" if _is_exact(part) else None
    raise no_text(condition)


def _lexeme(word: str) -> str:
    return f"'{word}'"


def _is_exact(condition: SearchCondition) -> bool:
    """Whether the index alone knows the matches."""
    match condition:
        case TextMatch(words, scope):
            return len(words) == 1 and scope == "any"
        case Or(parts) | And(parts):
            return all(map(_is_exact, parts))
        case Not(part):
            return _is_exact(part)
    raise no_text(condition)


def _vector(words: ColumnElement[Any]) -> ColumnElement[Any]:
    """The expression that is indexed."""
    return func.array_to_tsvector(func.string_to_array(words, literal_column("' '")))


def _is_match(match: ConditionShape, words: ColumnElement[Any]) -> Sql:
    """The condition of a match, which starts with the index."""
    # In a separate select: otherwise PostgreSQL plans by the words, and plans again for other words.
    query = select(cast(bindparam(match.name, type_=String()), TsQuery())).scalar_subquery()
    by_index = _vector(words).op("@@", is_comparison=True)(query)
    [phrases] = match.parts
    return by_index if _index_knows(phrases) else and_(by_index, _has_phrases(phrases, words))


def _index_knows(phrases: ConditionShape) -> bool:
    return all(map(_index_knows, phrases.parts)) if phrases.parts else phrases.kind == "word"


def _has_phrases(shape: ConditionShape, words: ColumnElement[Any]) -> Sql:
    """The same condition of one text, without the index."""
    match shape.kind:
        case "all":
            return and_(true(), *(_has_phrases(part, words) for part in shape.parts))
        case "any":
            return or_(false(), *(_has_phrases(part, words) for part in shape.parts))
        case "not":
            return not_(_has_phrases(shape.parts[0], words))
        case kind:
            return func.strpos(_field(kind, words), _phrase(shape)) > literal_number(0)


def _field(kind: str, words: ColumnElement[Any]) -> ColumnElement[Any]:
    if kind not in _FIELDS:
        return words
    return func.split_part(words, literal_column(f"'{_MARK}'"), literal_number(_FIELDS[kind]))


def _phrase(shape: ConditionShape) -> BindParameter[str]:
    return bindparam(shape.name, type_=String())


def _sought(shape: ConditionShape) -> Iterator[ConditionShape]:
    """The phrases that a match may have, without those that it must not have."""
    if shape.parts and shape.kind != "not":
        for part in shape.parts:
            yield from _sought(part)
    elif shape.kind != "not":
        yield shape


def _occurrences(phrase: ConditionShape, field: str, texts: FromClause) -> ColumnElement[int]:
    """How often a phrase occurs in a field."""
    if phrase.kind in _FIELDS and phrase.kind != field:
        return literal_number(0)
    without = func.replace(texts.c[field], _phrase(phrase), literal_column("''"))
    return (_bytes(texts.c[field]) - _bytes(without)) // _bytes(_phrase(phrase))


def _bytes(value: ColumnElement[Any]) -> ColumnElement[int]:
    return func.octet_length(value, type_=Integer())


# The planner's estimate, from its statistics of common words.
_EXPECTED = text(
    "EXPLAIN (FORMAT JSON) SELECT 1 FROM search_texts "
    "WHERE array_to_tsvector(string_to_array(words, ' ')) @@ CAST(CAST(:match AS text) AS tsquery)"
)
_everything: ColumnElement[float] = literal_column(
    "(SELECT reltuples FROM pg_class WHERE oid = CAST('search_texts' AS regclass))"
)
_VISIBLE_TOTALS = (
    select(
        func.count().label("subscriptions"),
        func.coalesce(func.sum(feeds.c.entry_count), 0).label("entries"),
        _everything.label("of"),
    )
    .select_from(subscriptions.join(feeds, feeds.c.id == subscriptions.c.feed_id))
    .where(subscriptions.c.user_id == bindparam("user_id", type_=BigInteger()))
)


_user = bindparam("user_id", type_=BigInteger())
_subscribed = select(subscriptions.c.feed_id).where(subscriptions.c.user_id == _user)


class PostgresqlSearch:
    index_sql: IndexSql = IndexSql(
        add=f"INSERT INTO search_texts (place, entry_id, words) VALUES ({_PLACE}{_ENTRY_ID}, {_ENTRY_ID}, {_TEXT})",
        revise=f"UPDATE search_texts SET words = {_TEXT} WHERE entry_id = :entry",
        add_missing=f"INSERT INTO search_texts (place, entry_id, words) SELECT {_PLACE}id, id, {_TEXT} {IF_UNCHANGED}",
    )
    indexes_in_lots: bool = False
    compares_phrases = True

    def start(self, match: ConditionShape | None, driving_condition: ConditionShape | None) -> SearchStart | None:
        if driving_condition == VISIBLE_BY_DATE:
            return _visible_start(match)
        return _words_start(match) if match and driving_condition == WORDS else None

    def match_text(self, condition: SearchCondition) -> str:
        query = tsquery(condition)
        if query is None:
            raise no_text(condition)
        return query

    async def choose_driving_condition(
        self, db: Database, search: PreparedSearch, user_id: int, limit: int
    ) -> ConditionShape | None:
        """A narrow condition, or the words unless they are so common that a scan by date is faster.

        If words are the driving condition, all that match are fetched.
        """
        if (narrow := await find_narrow_condition(db, search, user_id)) is not None:
            return narrow
        if search.match:
            return await _choose_for_words(db, search, user_id, limit)
        if await sees_few_entries(db, search, user_id):
            return VISIBLE
        seen = await _visible_share(db, user_id)
        return VISIBLE_BY_DATE if seen.share < SMALL_SHARE and seen.entries <= MOST_SORTED else None

    def has_words(self, text: ConditionShape) -> Sql:
        return _has_phrases(text.parts[0], search_texts.c.words)

    def has_match(self, match: ConditionShape, driving_condition: ConditionShape | None) -> Sql:
        return self.has_words(match)

    def walks_by_date(self, driving_condition: ConditionShape | None) -> bool:
        """False for a narrow condition: PostgreSQL would read the index of places too."""
        return driving_condition in (None, WORDS, VISIBLE_BY_DATE)

    def look_up(self, entry: Select[Any]) -> Select[Any]:
        """Adds an offset, so that PostgreSQL does not turn it into a join with all entries."""
        return entry.offset(literal_number(0))

    def matches(self, match: ConditionShape) -> Select[Any]:
        return select(search_texts.c.entry_id, search_texts.c.place).where(_is_match(match, search_texts.c.words))

    def rank_value(self, driving_condition: ConditionShape | None) -> ColumnElement[Any] | None:
        return search_texts.c.words

    def rank(self, newest: FromClause, match: ConditionShape, driving_condition: ConditionShape | None) -> Select[Any]:
        fields = [_field(name, newest.c.measured).label(name) for name in _FIELDS]
        # The offsets keep PostgreSQL from computing fields and counts again for each use.
        texts = select(newest.c.entry_id, newest.c.place, *fields).offset(literal_number(0)).subquery("texts")
        phrases = list(_sought(match.parts[0]))
        counts = [
            _occurrences(phrase, field, texts).label(f"{field}_{number}")
            for number, phrase in enumerate(phrases)
            for field in _FIELDS
        ]
        counted = select(texts.c.entry_id, texts.c.place, *counts).offset(literal_number(0)).subquery("counted")
        scores = (_score(counted, number) for number in range(len(phrases)))
        # Rounded: equal numbers of two words in another order add up to another last digit.
        return by_score(counted, cast(sum(scores, literal_column("0.0", Double())), REAL()))


def _words_start(match: ConditionShape) -> SearchStart:
    """All matches by date, before anything is looked up for the few that are needed."""
    all_texts = search_texts.alias("all_texts")
    # The offset keeps PostgreSQL from scanning by date.
    matched = (
        select(all_texts.c.entry_id, all_texts.c.place)
        .where(_is_match(match, all_texts.c.words))
        .order_by(all_texts.c.place.desc())
        .offset(literal_number(0))
        .subquery("matched")
    )
    source = matched.join(search_texts, search_texts.c.entry_id == matched.c.entry_id)
    return SearchStart(source, matched.c.place, (search_texts, matched))


def _visible_start(match: ConditionShape | None) -> SearchStart:
    """What the user may see by date; their texts are looked at until enough match."""
    mine = union_all(
        _ids_and_times().where(entries.c.feed_id.in_(_subscribed)),
        _ids_and_times().where(entries.c.id.in_(marked_entry_ids(_user)), entries.c.feed_id.not_in(_subscribed)),
    ).subquery("mine")
    # The offset keeps PostgreSQL from looking at all texts before it sorts them.
    visible = (
        select(mine.c.id.label("entry_id"), _place(mine.c.sort_at, mine.c.id).label("place"))
        .order_by(literal_column("place").desc())
        .offset(literal_number(0))
        .subquery("visible")
    )
    source = visible.join(search_texts, search_texts.c.entry_id == visible.c.entry_id)
    words = (_has_phrases(match.parts[0], search_texts.c.words),) if match else ()
    return SearchStart(source, visible.c.place, (search_texts, visible), words, is_visible=True)


def _ids_and_times() -> Select[Any]:
    return select(entries.c.id, entries.c.sort_at)


def _place(sort_at: ColumnElement[str], id: ColumnElement[int]) -> ColumnElement[int]:
    """The place of an entry, computed: reading it would read its text."""
    within = func.least(func.greatest(sort_at, _time(EARLIEST)), _time(LATEST))
    at = cast(within, DateTime(timezone=True))
    seconds = cast(func.floor(func.date_part(literal_column("'epoch'"), at)), BigInteger)
    return seconds * literal_column(str(IDS_PER_SECOND), BigInteger()) + id


def _time(seconds: int) -> ColumnElement[str]:
    return literal_column(f"'{to_iso(datetime.fromtimestamp(seconds, UTC))}'")


def _score(counted: FromClause, number: int) -> ColumnElement[Any]:
    """How badly a phrase matches, by the numbers of its occurrences."""
    title, author, text = (counted.c[f"{field}_{number}"] for field in _FIELDS)
    start: ColumnElement[float] = literal_column(f"CAST({_RANK_START} AS double precision)", Double())
    return (
        literal_column("0.6", Double()) / (title + start)
        + literal_column("0.3", Double()) / (title + author + start)
        + literal_column("0.1", Double()) / (title + author + text + start)
    )


async def _choose_for_words(db: Database, search: PreparedSearch, user_id: int, limit: int) -> ConditionShape | None:
    """Decides by the number of matches that PostgreSQL expects."""
    [plan] = await db.query(_EXPECTED, {"match": search.params["match"]})
    expected = int(msgspec.json.decode(plan["QUERY PLAN"])[0]["Plan"]["Plan Rows"])
    if expected <= RARE:
        return WORDS
    seen = await _visible_share(db, user_id)
    if seen.subscriptions <= FEW_SUBSCRIPTIONS and await is_few(db, VISIBLE, search, user_id):
        return VISIBLE
    assert search.match is not None
    [phrases] = search.match.parts
    is_exact = _index_knows(phrases)
    look = LOOK if is_exact else LOOK_FOR_PHRASES
    # Fetching all matches; looking at the texts that the user may see by date until enough are found; or at all texts.
    wanted = limit * seen.of / expected
    of_visible = SORT * seen.entries + look * min(wanted, seen.entries)
    of_all = look * wanted / seen.share if seen.share else math.inf
    if expected <= min(of_visible, of_all):
        return WORDS
    occurs = await _occurs_lately(db, search.params, phrases)
    if of_visible < of_all:
        return VISIBLE_BY_DATE if occurs or not is_exact else WORDS
    return None if occurs else WORDS


class _Seen(NamedTuple):
    """How much of all entries a user sees."""

    subscriptions: int
    entries: int
    of: int

    @property
    def share(self) -> float:
        return min(self.entries / self.of, 1)


async def _visible_share(db: Database, user_id: int) -> _Seen:
    [row] = await db.query(_VISIBLE_TOTALS, {"user_id": user_id})
    return _Seen(int(row["subscriptions"]), int(row["entries"]), max(int(row["of"]), 1))


async def _occurs_lately(db: Database, params: dict[str, Any], phrases: ConditionShape) -> bool:
    """Whether one of the newest texts matches.

    PostgreSQL expects words to be independent of each other. If common ones never stand together, a scan by date would
    read all texts, but the index finds that in milliseconds.
    """
    return bool(await db.query(_lately(phrases), params))


@lru_cache(maxsize=256)
def _lately(phrases: ConditionShape) -> Select[Any]:
    newest = (
        select(search_texts.c.words)
        .order_by(search_texts.c.place.desc())
        .limit(literal_number(NEWEST))
        .subquery("newest")
    )
    return (
        select(literal_column("1").label("one")).where(_has_phrases(phrases, newest.c.words)).limit(literal_number(1))
    )


DIALECT: SearchDialect = PostgresqlSearch()
