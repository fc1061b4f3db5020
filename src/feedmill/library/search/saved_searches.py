"""Lists, creates and deletes a user's saved searches."""

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.users.limits import check_count_limit
from feedmill.model.search_query import SavedSearch
from feedmill.store.database import Database
from feedmill.store.search import saved_searches


async def saved_searches_of_user(db: Database, user_id: int) -> list[SavedSearch]:
    """The user's searches in their order."""
    return await saved_searches.saved_searches_of(db, user_id)


async def create_saved_search(db: Database, user_id: int, name: str, text: str) -> SavedSearch:
    """Saves a search that was parsed before; raises `SearchExists` if the user has one of that name."""
    await check_count_limit(db, user_id, "saved_searches")
    return await saved_searches.save_search(db, user_id, name, text)


async def drop_saved_search(db: Database, user_id: int, search_id: int) -> None:
    """Deletes the search; `NotFound` if the user has none with this id."""
    if not await saved_searches.drop_saved_search(db, user_id, search_id):
        raise NotFound(Message("error.no_such_search"))
