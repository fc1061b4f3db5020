"""Compiles statements to the SQL of one database, and adds insert-or-keep and list parameters to SQLAlchemy."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import msgspec
from sqlalchemy import BindParameter, ColumnElement, Integer, Select, Table, Text, bindparam, case, func, select, text
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import Executable
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import Insert, UpdateBase
from sqlalchemy.sql.expression import literal_column

from feedmill.store.database import Params

# SQL that SQLAlchemy can't express, by the name of the dialect.
DATABASE_TIME = {
    "sqlite": text("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AS at"),
    "postgresql": text(
        """SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at"""
    ),
    "mysql": text("SELECT CONCAT(LEFT(DATE_FORMAT(UTC_TIMESTAMP(3), '%Y-%m-%dT%H:%i:%s.%f'), 23), 'Z') AS at"),
}
DATABASE_SIZE = {
    "sqlite": text("SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()"),
    "postgresql": text("SELECT pg_database_size(current_database()) AS bytes"),
    "mysql": text(
        "SELECT SUM(data_length + index_length) AS bytes FROM information_schema.tables WHERE table_schema = database()"
    ),
}
DIALECTS = tuple(DATABASE_TIME)
# What the parameter of a list ends with if MariaDB gets the ids as literals.
LITERALS = "__literals"


class Compiled(NamedTuple):
    """A statement compiled for one database: its SQL, and the order of its parameters."""

    sql: str
    names: tuple[str, ...]
    defaults: Mapping[str, Any]
    # Of the lists that are passed as literals.
    literals: tuple[str, ...] = ()

    def values(self, params: Params) -> list[Any]:
        """The positional values for `params`; raises KeyError for one that is missing."""
        if self.literals:
            params = {**params, **{name + LITERALS: _to_ids(params[name]) for name in self.literals}}
        return [params[name] if name in params else self.defaults[name] for name in self.names]


class Compiler:
    """Compiles statements for one dialect, and caches the result as long as the statement exists."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._known: WeakKeyDictionary[Executable, Compiled] = WeakKeyDictionary()

    def __call__(self, statement: Executable) -> Compiled:
        known = self._known.get(statement)
        if known is None:
            known = self._known[statement] = self._compile(statement)
        return known

    def _compile(self, statement: Executable) -> Compiled:
        compiled = statement.compile(  # type: ignore[attr-defined]
            dialect=self.dialect, compile_kwargs={"render_postcompile": True}
        )
        names = tuple(compiled.positiontup or ())
        required = {name for name, bind in compiled.binds.items() if bind.required}
        defaults = {name: value for name, value in compiled.params.items() if name not in required}
        literals = tuple(name.removesuffix(LITERALS) for name in names if name.endswith(LITERALS))
        return Compiled(str(compiled), names, defaults, literals)


def independent(statement: UpdateBase) -> Any:
    """Marks a change that neither reads nor writes what other steps of its batch write: see `is_independent`."""
    return statement.execution_options(independent=True)


def is_independent(statement: Executable) -> bool:
    """Whether the order of this step does not matter, so that a driver may run it together with others."""
    return bool(statement.get_execution_options().get("independent"))


class InsertNew(Insert):
    """An insert that keeps an existing row, so that it can be repeated."""

    inherit_cache = False


def insert(table: Table, *names: str) -> Insert:
    """Inserts rows with values for the columns `names`; the others get their defaults."""
    return Insert(table).values({name: bindparam(name) for name in names}).inline()


def insert_new(table: Table, *names: str) -> InsertNew:
    """An `InsertNew`. Look the row up afterwards: MySQL can't tell whether it was inserted or existed."""
    # Inline: otherwise SQLAlchemy adds RETURNING for the new id, which ON CONFLICT can't follow.
    return InsertNew(table).values({name: bindparam(name) for name in names}).inline()


def insert_selected(table: Table, source: Select[Any], *names: str) -> InsertNew:
    """Inserts the rows of `source`, with a value for each column (or each of `names`); existing rows are kept.

    The columns of `source` need unique names: MySQL would find them ambiguous.
    """
    found = source.subquery("found")
    columns = names or [column.name for column in table.c]
    # Always true; without a condition SQLite parses ON CONFLICT as that of a join.
    return InsertNew(table).from_select(columns, select(found).where(found.c[0].is_not(None)))


@compiles(InsertNew)
def _on_conflict_do_nothing(insert: InsertNew, compiler: SQLCompiler, **kw: Any) -> str:
    return f"{_plain_insert(insert, compiler, **kw)} ON CONFLICT DO NOTHING"


@compiles(InsertNew, "mysql")
def _on_duplicate_key(insert: InsertNew, compiler: SQLCompiler, **kw: Any) -> str:
    # Not INSERT IGNORE: that would also swallow a value too long for its column.
    # With its table, because the source may have a column of that name too.
    first = compiler.preparer.format_column(next(iter(insert.table.primary_key)), use_table=True)
    return f"{_plain_insert(insert, compiler, **kw)} ON DUPLICATE KEY UPDATE {first} = {first}"


def _plain_insert(insert: InsertNew, compiler: SQLCompiler, **kw: Any) -> str:
    return str(compiler.visit_insert(insert, **kw))  # type: ignore[no-untyped-call]


class OneOf(ColumnElement[bool]):
    """`column IN (list)` with the whole list in one parameter, so that the SQL is always the same."""

    inherit_cache = False

    def __init__(self, tested: ColumnElement[Any], name: str) -> None:
        self.tested = tested
        self.name = name


def count_where(condition: ColumnElement[bool]) -> ColumnElement[int]:
    """The number of selected rows that fulfil the condition; 0 without rows."""
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def one_of(tested: ColumnElement[Any], name: str) -> OneOf:
    """Whether a column is one of the values of the list parameter `name` (pass it through `as_list`)."""
    return OneOf(tested, name)


def as_list(values: list[int] | list[str]) -> str:
    """The form in which a list is passed to `one_of`: JSON text, on all databases."""
    return msgspec.json.encode(values).decode()


def _list(element: OneOf) -> BindParameter[str]:
    return bindparam(element.name, type_=Text())


@compiles(OneOf, "sqlite")
def _in_json_each(element: OneOf, compiler: SQLCompiler, **kw: Any) -> str:
    listed: Select[Any] = select(literal_column("value")).select_from(func.json_each(_list(element)))
    return compiler.process(element.tested.in_(listed), **kw)


@compiles(OneOf, "postgresql")
def _any_of_array(element: OneOf, compiler: SQLCompiler, **kw: Any) -> str:
    kind = compiler.dialect.type_compiler_instance.process(element.tested.type)
    tested = compiler.process(element.tested, **kw)
    bound = compiler.process(_list(element), **kw)
    return f"{tested} = ANY (ARRAY(SELECT json_array_elements_text({bound}::json)::{kind}))"


def _to_ids(listed: str) -> tuple[int, ...]:
    """The ids of a list parameter as the driver writes them into a statement. No id is negative."""
    return tuple(msgspec.json.decode(listed)) or (-1,)


@compiles(OneOf, "mysql")
def _in_json_table(element: OneOf, compiler: SQLCompiler, **kw: Any) -> str:
    kind = compiler.dialect.type_compiler_instance.process(element.tested.type)
    tested = compiler.process(element.tested, **kw)
    if (compiler.isupdate or compiler.isdelete) and isinstance(element.tested.type, Integer):
        # Before 11.1 MariaDB reads the whole table in an UPDATE or DELETE, and looks for each row in the subquery.
        return f"{tested} IN {compiler.process(bindparam(element.name + LITERALS, required=True), **kw)}"
    bound = compiler.process(_list(element), **kw)
    return f"{tested} IN (SELECT v FROM JSON_TABLE({bound}, '$[*]' COLUMNS (v {kind} PATH '$')) AS listed)"  # noqa: S608


class LookedUp(ColumnElement[str]):
    """The text that a JSON object, given as one parameter, has under the value of a column."""

    inherit_cache = False
    type = Text()

    def __init__(self, name: str, column: ColumnElement[Any]) -> None:
        self.name = name
        self.column = column


def looked_up(name: str, column: ColumnElement[Any]) -> LookedUp:
    """The text under a column's value in the parameter `name`, a JSON object."""
    return LookedUp(name, column)


@compiles(LookedUp, "sqlite")
def _by_json_path(element: LookedUp, compiler: SQLCompiler, **kw: Any) -> str:
    bound = compiler.process(bindparam(element.name, type_=Text()), **kw)
    return f"""json_extract({bound}, '$."' || {compiler.process(element.column, **kw)} || '"')"""


@compiles(LookedUp, "postgresql")
def _by_json_operator(element: LookedUp, compiler: SQLCompiler, **kw: Any) -> str:
    bound = compiler.process(bindparam(element.name, type_=Text()), **kw)
    return f"({bound}::json ->> CAST({compiler.process(element.column, **kw)} AS text))"


@compiles(LookedUp, "mysql")
def _by_json_value(element: LookedUp, compiler: SQLCompiler, **kw: Any) -> str:
    bound = compiler.process(bindparam(element.name, type_=Text()), **kw)
    return f"""JSON_UNQUOTE(JSON_EXTRACT({bound}, CONCAT('$."', {compiler.process(element.column, **kw)}, '"')))"""
