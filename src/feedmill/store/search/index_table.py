"""The table of the search index, the place of an entry in it, and SQL that several databases share.

The place is the entry's time in seconds and its id in one number, so that an index walks by date.
"""

from datetime import datetime
from math import floor

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    bindparam,
    column,
    literal_column,
    table,
)

# Two entries of one second are told apart by their ids, which are below this.
IDS_PER_SECOND = 2**31
# The range of seconds that fit before the id in 64 bits: 1901 to 2106.
EARLIEST, LATEST = -(2**31), 2**32 - 2

# The columns that all forms of the table have. Not in the schema: a backup leaves it out, because it can be rebuilt.
search_texts = table("search_texts", column("place", BigInteger), column("entry_id", BigInteger), column("words"))

ENTRY_ID = "(SELECT id FROM entries WHERE feed_id = :feed_id AND guid = :guid)"
PLACE = f":seconds * {IDS_PER_SECOND} + "
# Only if its text is still the one that was read, and nobody has added it meanwhile.
IF_UNCHANGED = (
    "FROM entries WHERE id = :entry AND digest = :digest "
    "AND NOT EXISTS (SELECT 1 FROM search_texts WHERE entry_id = :entry)"
)


def place_seconds(sort_at: datetime) -> int:
    """The seconds of a time, with which a place begins."""
    return min(max(floor(sort_at.timestamp()), EARLIEST), LATEST)


def place_of_second(name: str) -> ColumnElement[int]:
    """The first place of the second in the parameter `name`."""
    return bindparam(name, type_=BigInteger()) * literal_column(str(IDS_PER_SECOND))
