"""Writes a row limit into the statement, rounded up to one of a few sizes, so that PostgreSQL can keep its plans.

PostgreSQL reuses a plan only if the limit is part of the statement, and planning takes longer than reading most pages.
There are few sizes, because each is a statement of its own.
"""

from sqlalchemy import ColumnElement, literal_column

SIZES = (2, 21, 51, 101, 201)


def round_limit_up(most: int) -> int:
    """The smallest size of at least so many rows."""
    return next((size for size in SIZES if size >= most), most)


def literal_number(number: int) -> ColumnElement[int]:
    """The number as a literal in the statement."""
    return literal_column(str(number))
