"""Searches that a user saved under a name."""

from sqlalchemy import bindparam, select

from feedmill.errors import Conflict, ConstraintViolated
from feedmill.i18n.messages import Message
from feedmill.model.search_query import SavedSearch
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import saved_searches

_of_user = saved_searches.c.user_id == bindparam("of_user")
ALL = (
    select(saved_searches.c.id, saved_searches.c.name, saved_searches.c.query)
    .where(_of_user)
    .order_by(saved_searches.c.position, saved_searches.c.name, saved_searches.c.id)
)
NAMED = ALL.where(saved_searches.c.name == bindparam("name"))
ADD = insert(saved_searches, "user_id", "name", "query")
DROP = saved_searches.delete().where(_of_user, saved_searches.c.id == bindparam("search_id"))


class SearchExists(Conflict):
    """There is a saved search of that name."""

    code = "search_exists"


async def saved_searches_of(db: Database, user_id: int) -> list[SavedSearch]:
    """A user's searches in their order."""
    return [SavedSearch(**row) for row in await db.query(ALL, {"of_user": user_id})]


async def save_search(db: Database, user_id: int, name: str, query: str) -> SavedSearch:
    """Saves a search; raises `SearchExists` if the user has one of that name."""
    try:
        await db.batch([Step(ADD, {"user_id": user_id, "name": name, "query": query})])
    except ConstraintViolated as error:
        raise SearchExists(Message("error.search_exists", name=name)) from error
    [saved] = await db.query(NAMED, {"of_user": user_id, "name": name})
    return SavedSearch(**saved)


async def drop_saved_search(db: Database, user_id: int, search_id: int) -> bool:
    """False: the user has no such search."""
    [dropped] = await db.batch([Step(DROP, {"of_user": user_id, "search_id": search_id})])
    return dropped == 1
