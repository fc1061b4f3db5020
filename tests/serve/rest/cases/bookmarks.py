from typing import Any

from tests.serve.rest.cases import Asked, Case, plainly
from tests.serve.rest.site import Person, Site

URL = "https://alice.example/page"


def _of_bookmark(path: str = "", json: Any = None, secret: str | None = URL) -> Case:
    async def ask(site: Site, alice: Person) -> Asked:
        saved, _ = await site.app.bookmarks.save(alice.user.id, URL, None, None)
        return Asked(f"/bookmarks/{saved.id}{path}", json, secret)

    return Case(ask)


async def _all(site: Site, alice: Person) -> Asked:
    await site.app.bookmarks.save(alice.user.id, URL, None, None)
    return Asked("/bookmarks", secret=URL)


CASES = {
    "GET /bookmarks": Case(_all, others=200),
    "POST /bookmarks": plainly("/bookmarks", {"url": URL}, others=201),
    "GET /bookmarks/{bookmark_id}": _of_bookmark(),
    "PATCH /bookmarks/{bookmark_id}": _of_bookmark(json={"note": "mine"}),
    "DELETE /bookmarks/{bookmark_id}": _of_bookmark(secret=None),
    "POST /bookmarks/{bookmark_id}/retry": _of_bookmark("/retry"),
}
