"""Rounds a page's row limit up to one of a few sizes, so that PostgreSQL can keep its plans.

PostgreSQL keeps a plan only if it knows how many rows are wanted, and to make one takes longer than most pages. So the
number stands in the statement; there are few of them, because each makes a statement of its own.
"""

from sqlalchemy import ColumnElement, literal_column

SIZES = (2, 21, 51, 101, 201)


def page_size_for(most: int) -> int:
    """The smallest size that has room for so many."""
    return next((size for size in SIZES if size >= most), most)


def literal_number(number: int) -> ColumnElement[int]:
    """The number as a statement says it."""
    return literal_column(str(number))
