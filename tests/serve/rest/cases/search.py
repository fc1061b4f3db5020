"""What is found, and the searches that are kept: each person has their own."""

from feedmill.store.search.saved_searches import save_search
from tests.library.small_library import SmallLibrary
from tests.serve.rest.cases import Asked, Case, plainly
from tests.serve.rest.site import Person, Site


async def _found(site: Site, alice: Person) -> Asked:
    library = SmallLibrary(site.app.db)
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    await library.arrive(feed, "Gnus of hers")
    return Asked("/search?q=gnus", secret="Gnus of hers")


async def _kept(site: Site, alice: Person) -> Asked:
    await save_search(site.app.db, alice.user.id, "Her gnus", "gnus")
    return Asked("/searches", secret="Her gnus")


async def _one_kept(site: Site, alice: Person) -> Asked:
    saved = await save_search(site.app.db, alice.user.id, "Her gnus", "gnus")
    return Asked(f"/searches/{saved.id}")


CASES = {
    "GET /search": Case(_found, others=200),
    "GET /searches": Case(_kept, others=200),
    "POST /searches": plainly("/searches", {"name": "gnus", "query": "gnus is:unread"}, others=201),
    "DELETE /searches/{search_id}": Case(_one_kept),
}
