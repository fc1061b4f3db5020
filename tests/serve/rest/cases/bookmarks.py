from typing import Any

from tests.serve.rest.cases import Case, CaseRequest, simple_case
from tests.serve.rest.site import Person, Site

URL = "https://alice.example/page"


def _of_bookmark(path: str = "", json: Any = None, secret: str | None = URL) -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        saved, _ = await site.app.bookmarks.save(alice.user.id, URL, None, None)
        return CaseRequest(f"/bookmarks/{saved.id}{path}", json, secret)

    return Case(prepare)


async def _all(site: Site, alice: Person) -> CaseRequest:
    await site.app.bookmarks.save(alice.user.id, URL, None, None)
    return CaseRequest("/bookmarks", secret=URL)


CASES = {
    "GET /bookmarks": Case(_all, others=200),
    "POST /bookmarks": simple_case("/bookmarks", {"url": URL}, others=201),
    "GET /bookmarks/{bookmark_id}": _of_bookmark(),
    "PATCH /bookmarks/{bookmark_id}": _of_bookmark(json={"note": "mine"}),
    "DELETE /bookmarks/{bookmark_id}": _of_bookmark(secret=None),
    "POST /bookmarks/{bookmark_id}/retry": _of_bookmark("/retry"),
}
