"""Full-text functions of PostgreSQL and MySQL.

SQLAlchemy has both, but only together with its dialects, which take some five megabytes and are imported for a database
that is used.
"""

from typing import Any

from sqlalchemy import Float
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class ToTsquery(FunctionElement[Any]):
    """PostgreSQL's `to_tsquery(configuration, query)`.

    Not `func.to_tsquery`: the PostgreSQL compiler refuses that name unless it is SQLAlchemy's own class.
    """

    name = "to_tsquery"
    inherit_cache = True


class Against(FunctionElement[Any]):
    """MySQL's `MATCH (column) AGAINST (query IN BOOLEAN MODE)`: zero when a row does not fit."""

    name = "against"
    type = Float()
    inherit_cache = True


@compiles(ToTsquery, "postgresql")
def _to_tsquery(element: ToTsquery, compiler: SQLCompiler, **kw: Any) -> str:
    return f"to_tsquery({compiler.process(element.clauses, **kw)})"


@compiles(Against, "mysql")
def _match_against(element: Against, compiler: SQLCompiler, **kw: Any) -> str:
    column, query = (compiler.process(part, **kw) for part in element.clauses)
    return f"MATCH ({column}) AGAINST ({query} IN BOOLEAN MODE)"
