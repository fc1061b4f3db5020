"""`/api/feeds/import` and `/api/feeds/export`."""

from collections.abc import AsyncIterator

from feedmill.library.subscriptions.opml import MAX_BYTES, OpmlFeed, read_opml, write_opml
from tests.serve.rest.sample_feeds import feed_of, folder_of, subscribed
from tests.serve.rest.site import Person, Site


def listed(site: Site, *names: str) -> bytes:
    feeds = [OpmlFeed(site.web.serve(f"/{name}", feed_of(name, title=name)), name, None, ("F",)) for name in names]
    return write_opml([*feeds, OpmlFeed("gopher://old.example/", "old")], title="List")


async def test_an_import_is_fetched_as_a_job_that_keeps_its_report(site: Site, alice: Person) -> None:
    sent = await alice.post("/feeds/import", content=listed(site, "a", "b"))

    told = sent.json()
    assert (sent.status_code, told["new"], told["known"], told["folders"]) == (202, 2, 0, ["F"])
    assert [error["line"] for error in told["errors"]] == [5]
    events = (await alice.get(f"/jobs/{told['job_id']}/events")).text
    assert '"done":2,"total":2,"new":2,"failed":0,"waiting":false,"status":"done"' in events
    job = (await alice.get(f"/jobs/{told['job_id']}")).json()
    assert (job["kind"], job["report"]["errors"]) == ("import", told["errors"])
    assert {each["title"]: each["unread_count"] for each in (await alice.get("/feeds")).json()["items"]} == {
        "a": 1,
        "b": 1,
    }


async def test_a_dry_run_reports_what_would_happen_and_changes_nothing(site: Site, alice: Person, bob: Person) -> None:
    data = listed(site, "a", "b", "c")
    await subscribed(alice, site, "/a")
    await subscribed(bob, site, "/b")

    told = await alice.post("/feeds/import?dry_run=true", content=data)

    counts = {name: told.json()[name] for name in ("job_id", "new", "known", "subscribed")}
    assert (told.status_code, counts) == (200, {"job_id": None, "new": 1, "known": 1, "subscribed": 1})
    assert len((await alice.get("/feeds")).json()["items"]) == 1
    assert (await alice.get("/folders")).json()["items"] == []


async def test_a_list_can_be_uploaded_with_a_form(site: Site, alice: Person) -> None:
    sent = await alice.client.post("/api/feeds/import", files={"file": ("list.opml", listed(site, "a"))})
    without = await alice.client.post("/api/feeds/import", files={"other": ("list.opml", b"")})

    assert (sent.status_code, sent.json()["new"]) == (202, 1)
    assert (without.status_code, without.json()["errors"][0]["field"]) == (422, "file")


async def test_a_huge_list_is_read_only_up_to_the_limit(alice: Person) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 100_000_000:
            sent += 1_000_000
            yield b" " * 1_000_000

    refused = await alice.client.post("/api/feeds/import", content=endless())

    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
    assert sent <= MAX_BYTES + 2_000_000


async def test_an_entity_bomb_is_refused_with_its_reason(alice: Person) -> None:
    bomb = (
        b'<!DOCTYPE o [<!ENTITY a "aaaaaaaa">]><opml><body><outline text="&a;" xmlUrl="https://e.org/"/></body></opml>'
    )

    refused = await alice.post("/feeds/import", content=bomb)

    assert (refused.status_code, refused.json()["code"]) == (422, "bad_opml")
    assert "entities" in refused.json()["detail"]


async def test_all_feeds_or_one_folder_are_exported(site: Site, alice: Person, charlie: Person) -> None:
    folder = await folder_of(alice, "Folder")
    filed = await subscribed(alice, site, "/filed", folder_ids=[folder])
    loose = await subscribed(alice, site, "/loose", title="Loose")

    whole = await alice.get("/feeds/export")
    part = await alice.get(f"/feeds/export?folder_id={folder}")

    assert whole.headers["content-type"] == "text/x-opml; charset=utf-8"
    assert {(each.url, each.title, each.folder) for each in read_opml(whole.content).feeds} == {
        (filed["url"], "News", ("Folder",)),
        (loose["url"], "Loose", ()),
    }
    assert [each.url for each in read_opml(part.content).feeds] == [filed["url"]]
    assert (await charlie.get(f"/feeds/export?folder_id={folder}")).status_code == 404
