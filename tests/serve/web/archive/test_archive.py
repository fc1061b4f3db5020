"""The archive of one feed and of all feeds, without scripts."""

from typing import Any

import pytest

from feedmill.errors import BlobUnavailable
from feedmill.store.archive.raw_body_history import raw_bodies_before
from feedmill.store.database import Step
from feedmill.store.schema import entries, feeds, image_tasks, unread
from tests.archive.images import sample_images
from tests.browser.sample_feeds import SampleEntry, SampleFeed, subscribe_to
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of

ARCHIVE = "/feed/1/archive"
SYSTEMS = "/systems.xml"
HOSTILE = b"<html><script>alert(1)</script><!-- \xe2\x80\xae evil --></html>"


async def fetch(site: Site, alice: Visitor, body: bytes) -> None:
    """Serves this body at the feed's URL and refreshes the feed."""
    site.web.serve(SYSTEMS, Answer(body, headers={"Content-Type": "text/html"}))
    await site.app.db.batch([Step(feeds.update().values(last_fetched_at=None))])
    await alice.send("/feed/1/health", do="refresh")


def rows(page: Any) -> list[str]:
    return [text_of(row) for row in page.xpath("//main//tbody/tr")]


async def no_answer(key: str, start: int = 0, end: int | None = None) -> bytes:
    raise BlobUnavailable("no answer")


# --- raw bodies -------------------------------------------------------------------------------------------


async def test_every_body_that_differed_is_listed(site: Site, alice: Visitor) -> None:
    await fetch(site, alice, HOSTILE)

    page = await alice.see(ARCHIVE)

    assert page.xpath("//h1/text()") == ["Quiet Systems"]
    first, second = rows(page)
    assert "not a feed not a feed: it is a web page (HTML)" in first
    assert "a feed" in second
    assert page.xpath("//td[contains(@class, 'links')]/a/@href")[:3] == [
        f"{ARCHIVE}/3/diff",
        f"{ARCHIVE}/3/download",
        f"{ARCHIVE}/reparse?body=3",
    ]


async def test_a_retention_change_is_previewed_before_it_is_saved(site: Site, alice: Visitor, charlie: Visitor) -> None:
    left = {"in_feed": 0, "last_seen_at": "2026-01-01T00:00:00.000Z"}
    await site.app.db.batch([Step(entries.update().where(entries.c.feed_id == 1).values(**left))])

    page = await alice.see(f"{ARCHIVE}?days=7")

    assert "5 items would be deleted now." in text_of(page)
    assert "0 items would be deleted now." in text_of(await alice.see(f"{ARCHIVE}?days=30000"))
    assert "would be deleted now" not in text_of(await alice.see(f"{ARCHIVE}?days=soon"))
    assert "/feed/1/edit" in page.xpath("//main//a/@href")
    assert (await charlie.client.get(f"{ARCHIVE}?days=7")).status_code == 404


async def test_a_hostile_body_is_shown_as_text(site: Site, alice: Visitor) -> None:
    await fetch(site, alice, HOSTILE)

    page = await alice.see(f"{ARCHIVE}/3")

    assert page.xpath("//main//script") == []
    [shown] = page.xpath("//pre[@class='raw']")
    assert shown.text_content() == HOSTILE.decode()


async def test_a_huge_body_is_shown_in_part(site: Site, alice: Visitor) -> None:
    await fetch(site, alice, b"<html>" + b"x" * 900_000)

    page = await alice.see(f"{ARCHIVE}/3")

    assert len(page.xpath("//pre[@class='raw']")[0].text_content()) == 200_000
    assert "Only the beginning is shown." in text_of(page)


async def test_a_download_has_the_exact_bytes_and_is_never_rendered(site: Site, alice: Visitor) -> None:
    await fetch(site, alice, HOSTILE)

    answer = await alice.client.get(f"{ARCHIVE}/3/download")

    assert answer.content == HOSTILE
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith('attachment; filename="feed-1-20')
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"


async def test_two_bodies_are_compared(site: Site, alice: Visitor) -> None:
    [kept] = await raw_bodies_before(site.app.db, 1, None, 9)
    body = await site.app.blobs.get(kept.key)
    await fetch(site, alice, body.replace(b"Against the clever cache", b"For <i>the</i> clever cache"))

    page = await alice.see(f"{ARCHIVE}/3/diff")
    first = await alice.see(f"{ARCHIVE}/1/diff")

    assert [line.text for line in page.xpath("//del")] == ["− <title>Against the clever cache</title>"]
    assert "+ <title>For <i>the</i> clever cache</title>" in [line.text for line in page.xpath("//ins")]
    assert "There is no earlier raw body to compare it with." in text_of(first)


async def test_an_object_store_that_is_down_is_reported_and_the_page_still_works(
    site: Site, alice: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(site.app.blobs), "get", staticmethod(no_answer))

    answers = [await alice.client.get(f"{ARCHIVE}/1{after}") for after in ("", "/diff", "/download")]
    reparse = await alice.see(f"{ARCHIVE}/reparse")

    assert [answer.status_code for answer in answers] == [503, 200, 503]
    assert "The object store does not answer now." in answers[0].text
    assert "The object store does not answer now." in text_of(reparse)
    assert reparse.xpath("//main//form") == []
    assert (await alice.client.get(ARCHIVE)).status_code == 200


async def test_a_body_that_is_missing_in_the_store_is_reported(site: Site, alice: Visitor) -> None:
    [kept] = await raw_bodies_before(site.app.db, 1, None, 9)
    await site.app.blobs.delete_many([kept.key])

    for after in ("", "/download"):
        answer = await alice.client.get(f"{ARCHIVE}/1{after}")
        assert (answer.status_code, "missing in the object store" in answer.text) == (404, True)


# --- restore ----------------------------------------------------------------------------------------------


async def test_a_restore_is_a_dry_run_first(site: Site, alice: Visitor) -> None:
    db = site.app.db
    await db.batch([Step(unread.delete()), Step(entries.delete().where(entries.c.feed_id == 1))])

    tried = await alice.see(f"{ARCHIVE}/reparse")
    [form] = tried.xpath("//main//form")
    done = await alice.send(form.get("action"))
    again = await alice.see(f"{ARCHIVE}/reparse?body=1")

    assert "One raw body was parsed: it would add 5 items and change 0." in text_of(tried)
    assert done.headers["location"] == ARCHIVE
    assert "Done: 5 items added, 0 changed." in text_of(again)
    assert "it would add 0 items and change 0." in text_of(again)
    assert "Apply" not in text_of(again)


# --- images -----------------------------------------------------------------------------------------------


@pytest.fixture
async def gallery(site: Site, alice: Visitor) -> str:
    """The archive of a feed with four images: one archived, one waiting, two failed."""
    images = "".join(f'<img src="https://x.example/{n}.png">' for n in range(4))
    sample_feed = SampleFeed("/gallery.xml", "Gallery", [SampleEntry("العجلة", images)])
    await subscribe_to(site, await alice.user(site), sample_feed)
    key = "images/3/01234567/0.png"
    await site.app.blobs.put(key, sample_images.PNG, "image/png")
    await _settle(site, 0, status="success", object_key=key, size=1234, content_type="image/png", sha256="0" * 64)
    for position in (2, 3):
        await _settle(site, position, status="failed", attempts=3, last_error="<b>HTTP 404</b>")
    return "/feed/3/archive/images"


async def _settle(site: Site, position: int, **values: Any) -> None:
    await site.app.db.batch([Step(image_tasks.update().where(image_tasks.c.position == position).values(**values))])


async def test_images_are_shown_by_state(gallery: str, alice: Visitor) -> None:
    archived = await alice.see(gallery)
    failed = await alice.see(f"{gallery}?state=failed")

    assert [text_of(chip) for chip in archived.xpath("//nav[@class='facets']/a")] == [
        "Archived 1 1.2 kB",
        "Waiting 1",
        "Failed 2",
    ]
    [image] = archived.xpath("//main//img/@src")
    assert (await alice.client.get(image)).status_code == 200
    assert [row.endswith("3<b>HTTP 404</b>") for row in rows(failed)] == [True, True]


async def test_failed_images_are_tried_again(site: Site, gallery: str, alice: Visitor) -> None:
    answer = await alice.send(gallery, do="retry")

    page = await alice.see(answer.headers["location"])
    assert "2 images are retried within a minute." in text_of(page)
    assert len(rows(page)) == 3
    assert "Fetch missing images now" in text_of(page)
    assert (await alice.send(gallery, do="fetch")).status_code == 303
    assert (await alice.send(gallery, do="burn")).status_code == 422


async def test_old_images_are_deleted_after_a_preview(site: Site, gallery: str, alice: Visitor) -> None:
    await site.app.db.batch([Step(entries.update().values(sort_at="2026-01-01T00:00:00.000Z"))])

    before = await alice.see(f"{gallery}?older=30")
    answer = await alice.send(gallery, do="free", older="30")
    after = await alice.see(answer.headers["location"])

    assert "One image would be deleted: 1.2 kB." in text_of(before)
    assert before.xpath("//input[@name='older' and @type='hidden']/@value") == ["30"]
    assert "One image was deleted: 1.2 kB." in text_of(after)
    assert "Free space" not in text_of(after)
    assert (await alice.send(gallery, do="free", older="soon")).status_code == 422


async def test_a_feed_without_images_has_a_message(alice: Visitor) -> None:
    assert "No image archived yet" in text_of(await alice.see(f"{ARCHIVE}/images"))
    assert "No image has failed" in text_of(await alice.see(f"{ARCHIVE}/images?state=failed"))


# --- all feeds --------------------------------------------------------------------------------------------


async def test_the_storage_usage_of_every_feed_is_plotted_and_listed(site: Site, alice: Visitor, gallery: str) -> None:
    page = await alice.see("/archive")

    assert len(rows(page)) == 3
    assert len(page.xpath("//main//svg[contains(@class, 'stack')]")) == 3
    [row] = [row for row in rows(page) if row.startswith("Gallery")]
    assert "1.2 kB (1)" in row
    assert "in 30 days at the rate of the last 30 days" in text_of(page)


async def test_an_admin_sees_a_preview_of_retention(site: Site, alice: Visitor) -> None:
    gone = entries.update().where(entries.c.feed_id == 1).values(in_feed=0, last_seen_at="2026-01-01T00:00:00.000Z")
    await site.app.db.batch([Step(gone)])

    page = await alice.see("/archive?days=10")

    assert "5 items would be deleted now." in text_of(page)
    assert page.xpath("//input[@name='days']/@value") == ["10"]
    assert len(await site.app.db.query(entries.select())) == 8


async def test_other_users_see_nothing_of_it(site: Site, gallery: str, charlie: Visitor) -> None:
    for path in (ARCHIVE, gallery, f"{ARCHIVE}/1", f"{ARCHIVE}/1/diff", f"{ARCHIVE}/1/download", f"{ARCHIVE}/reparse"):
        assert (await charlie.client.get(path)).status_code == 404, path
    assert (await charlie.send(gallery, do="retry")).status_code == 404
    assert (await charlie.send(f"{ARCHIVE}/reparse")).status_code == 404
    page = await charlie.see("/archive?days=1")
    assert "Nothing stored yet" in text_of(page)
    assert "would be deleted" not in text_of(page)


async def test_a_body_of_another_feed_is_not_found(alice: Visitor) -> None:
    for path in (f"{ARCHIVE}/2", f"{ARCHIVE}/9007199254740993", "/feed/9007199254740993/archive"):
        assert (await alice.client.get(path)).status_code == 404, path


async def test_older_bodies_are_on_the_next_page(site: Site, alice: Visitor) -> None:
    assert rows(await alice.see(f"{ARCHIVE}?before=2026-01-01T00:00:00.000Z")) == []
    for before in ("nonsense", "2026-99-01T00:00:00.000Z"):
        assert len(rows(await alice.see(f"{ARCHIVE}?before={before}"))) == 1
