"""Whether stored entries are missing in the search index: after a backup load, or a migration that empties the index.

The migrations set the value by its name.
"""

from sqlalchemy import exists

from feedmill.store.database import Database, Step
from feedmill.store.instance_state import read_instance_value, steps_to_set_instance_value
from feedmill.store.schema import instance_state

INDEX_INCOMPLETE = "index_incomplete"
IS_INCOMPLETE = exists().where(instance_state.c.name == INDEX_INCOMPLETE)
"""A condition of other statements."""
CLEAR = instance_state.delete().where(instance_state.c.name == INDEX_INCOMPLETE)


async def is_index_incomplete(db: Database) -> bool:
    return await read_instance_value(db, INDEX_INCOMPLETE) is not None


def steps_to_mark_index_incomplete() -> list[Step]:
    """What must find every stored entry waits from now on."""
    return steps_to_set_instance_value(INDEX_INCOMPLETE, "yes")


async def mark_index_complete(db: Database) -> None:
    await db.batch([Step(CLEAR)])
