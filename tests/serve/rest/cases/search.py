"""Search results and saved searches: each user has their own."""

from feedmill.store.search.saved_searches import save_search
from tests.library.small_library import SmallLibrary
from tests.serve.rest.cases import Case, CaseRequest, simple_case
from tests.serve.rest.site import Person, Site


async def _found(site: Site, alice: Person) -> CaseRequest:
    library = SmallLibrary(site.app.db)
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    await library.arrive(feed, "Gnus of hers")
    return CaseRequest("/search?q=gnus", secret="Gnus of hers")


async def _kept(site: Site, alice: Person) -> CaseRequest:
    await save_search(site.app.db, alice.user.id, "Her gnus", "gnus")
    return CaseRequest("/searches", secret="Her gnus")


async def _one_kept(site: Site, alice: Person) -> CaseRequest:
    saved = await save_search(site.app.db, alice.user.id, "Her gnus", "gnus")
    return CaseRequest(f"/searches/{saved.id}")


CASES = {
    "GET /search": Case(_found, others=200),
    "GET /searches": Case(_kept, others=200),
    "POST /searches": simple_case("/searches", {"name": "gnus", "query": "gnus is:unread"}, others=201),
    "DELETE /searches/{search_id}": Case(_one_kept),
}
