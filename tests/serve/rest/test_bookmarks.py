"""Bookmarks over HTTP."""

import pytest

from tests.scripted_web import Answer
from tests.serve.rest.site import Person, Site

PAGE = b"<html><head><title>On kilns</title><meta name=description content='How to fire.'></head></html>"


async def test_a_saved_page_has_its_title_and_description_after_the_fetch(site: Site, alice: Person) -> None:
    url = site.web.serve("/page", Answer(PAGE, headers={"Content-Type": "text/html"}))

    saved = await alice.post("/bookmarks", {"url": url, "note": "for later"})
    await site.app.bookmarks.read_pages()
    shown = (await alice.get(f"/bookmarks/{saved.json()['id']}")).json()

    assert (saved.status_code, saved.json()["status"]) == (201, "pending")
    assert (shown["title"], shown["description"], shown["note"]) == ("On kilns", "How to fire.", "for later")
    assert shown["status"] == "fetched"


async def test_saving_a_page_again_is_harmless_and_reported(alice: Person, bob: Person) -> None:
    first = await alice.post("/bookmarks", {"url": "https://example.org/a", "note": "mine"})
    again = await alice.post("/bookmarks", {"url": "https://EXAMPLE.org/a#part"})
    bobs = await bob.post("/bookmarks", {"url": "https://example.org/a"})

    assert (again.status_code, again.json()["id"], again.json()["note"]) == (200, first.json()["id"], "mine")
    assert (bobs.status_code, bobs.json()["note"]) == (201, None)


async def test_title_and_note_are_changed_separately(alice: Person) -> None:
    saved = (await alice.post("/bookmarks", {"url": "https://example.org/a", "note": "n", "title": "T"})).json()
    path = f"/bookmarks/{saved['id']}"

    renamed = (await alice.patch(path, {"title": "Other"})).json()
    bare = (await alice.patch(path, {"note": None})).json()

    assert (renamed["title"], renamed["note"]) == ("Other", "n")
    assert (bare["title"], bare["note"]) == ("Other", None)
    assert (await alice.delete(path)).status_code == 204
    assert (await alice.get(path)).status_code == 404


async def test_pages_of_bookmarks_neither_repeat_nor_skip_while_new_ones_arrive(alice: Person) -> None:
    for number in range(5):
        await alice.post("/bookmarks", {"url": f"https://example.org/{number}"})

    first = (await alice.get("/bookmarks?limit=2")).json()
    await alice.post("/bookmarks", {"url": "https://example.org/new"})
    second = (await alice.get(f"/bookmarks?limit=2&cursor={first['next']}")).json()
    third = (await alice.get(f"/bookmarks?limit=2&cursor={second['next']}")).json()

    urls = [one["url"] for page in (first, second, third) for one in page["items"]]
    assert urls == [f"https://example.org/{number}" for number in (4, 3, 2, 1, 0)]
    assert third["next"] is None


async def test_a_failed_page_is_tried_again(site: Site, alice: Person) -> None:
    saved = (await alice.post("/bookmarks", {"url": site.web.url("/missing")})).json()
    await site.app.bookmarks.read_pages()
    given_up = (await alice.get(f"/bookmarks/{saved['id']}")).json()

    retried = await alice.post(f"/bookmarks/{saved['id']}/retry")

    assert (given_up["status"], given_up["last_error"]) == ("failed", "the server answered with HTTP 404")
    assert (retried.status_code, retried.json()["status"]) == (202, "pending")


@pytest.mark.parametrize(
    ("query", "status"), [("cursor=nonsense", 404), ("cursor=OTk5OTk", 404), ("limit=0", 422), ("limit=201", 422)]
)
async def test_an_invalid_query_is_refused(alice: Person, query: str, status: int) -> None:
    assert (await alice.get(f"/bookmarks?{query}")).status_code == status
