"""`/api/entries` for programs that keep a copy: new entries, changes, ids and texts."""

import pytest

from tests.library.small_library import SmallLibrary
from tests.serve.rest.site import Person, Site


async def test_a_program_gets_what_is_new_since_it_last_asked(site: Site, alice: Person) -> None:
    library = SmallLibrary(site.app.db)
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    ids = await library.arrive(feed, *"abc")

    first = (await alice.get("/entries?since=&limit=2")).json()
    second = (await alice.get("/entries", params={"since": first["since"]})).json()
    new = await library.arrive(feed, "d")
    third = (await alice.get("/entries", params={"since": second["since"]})).json()

    assert [item["id"] for item in first["items"] + second["items"]] == ids
    assert (first["more"], second["more"]) == (True, False)
    assert [(item["id"], item["title"], item["unread"]) for item in third["items"]] == [(new[0], "d", True)]


@pytest.mark.parametrize("cursor", ["x", "W10", "null", "0", "%00", "bnVsbA"])
@pytest.mark.parametrize("path", ["/entries?since=", "/entries/changes?since=", "/entries/ids?cursor="])
async def test_a_cursor_that_is_not_one_is_refused(alice: Person, path: str, cursor: str) -> None:
    refused = await alice.get(path + cursor)

    assert (refused.status_code, refused.json()["code"]) == (400, "bad_cursor")


async def test_changes_need_a_cursor_and_since_goes_with_no_list(alice: Person) -> None:
    assert (await alice.get("/entries/changes")).status_code == 422
    assert (await alice.get("/entries/changes?since=")).status_code == 400
    for more in ("view=all", "feed_id=1", "cursor=x", "order=oldest"):
        assert (await alice.get(f"/entries?since=&{more}")).status_code in (404, 422)


async def test_ids_that_did_not_change_are_not_sent_again(site: Site, alice: Person) -> None:
    library = SmallLibrary(site.app.db)
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    ids = await library.arrive(feed, *"abc")

    first = await alice.get("/entries/ids?limit=2")
    known = await alice.get("/entries/ids?limit=2", headers={"If-None-Match": first.headers["ETag"]})
    second = await alice.get("/entries/ids", params={"cursor": first.json()["next"]})

    assert (first.json()["ids"], second.json()["ids"], second.json()["next"]) == (ids[:2], ids[2:], None)
    assert (known.status_code, known.content) == (304, b"")


async def test_texts_are_safe_and_in_the_order_of_the_request(site: Site, alice: Person) -> None:
    library = SmallLibrary(site.app.db)
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    [a, b] = await library.arrive(feed, *"ab", content_html="<p onclick=x()>text<script>x</script></p>")

    found = (await alice.get(f"/entries/texts?ids={b},9007199254740993,{a},{b}")).json()["items"]
    too_many = await alice.get(f"/entries/texts?ids={','.join(['1'] * 201)}")

    assert [(item["id"], item["html"]) for item in found] == [(b, "<p>text</p>"), (a, "<p>text</p>")]
    assert too_many.status_code == 422
    for ids in ("", "a", "1,", "-1"):
        assert (await alice.get("/entries/texts", params={"ids": ids})).status_code == 422
