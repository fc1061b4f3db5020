"""Pages saved by their address."""

from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of

PAGE = b"<html><head><title>On larch</title><meta name='description' content='A wood for wheels'></head></html>"


async def test_a_saved_page_has_its_title_and_description_after_the_fetch(site: Site, alice: Visitor) -> None:
    url = site.web.serve("/larch", Answer(PAGE, headers={"Content-Type": "text/html"}))

    saved = await alice.send("/bookmarks", url=url, note="for the new wheel")
    before = await alice.see(saved.headers["location"])
    await site.app.bookmarks.read_pages()
    after = await alice.see("/bookmarks")

    assert "Loading the page’s details" in text_of(before)
    [waiting] = before.xpath("//li[@class='bookmark']/@hx-get")
    assert "On larch" in text_of(after)
    assert "A wood for wheels" in text_of(after)
    assert "for the new wheel" in text_of(after)
    assert after.xpath("//li[@class='bookmark']/@hx-get") == []
    part = await alice.client.get(waiting, headers={"HX-Request": "true"})
    assert "On larch" in part.text
    assert "<html" not in part.text
    assert (await alice.client.get(waiting)).headers["location"] == f"/bookmarks#b{waiting.rpartition('/')[2]}"


async def test_saving_a_page_again_changes_nothing(alice: Visitor) -> None:
    await alice.send("/bookmarks", url="https://example.org/a")

    again = await alice.send("/bookmarks", url="https://example.org/a", note="twice")

    page = await alice.see(again.headers["location"])
    assert "You have already saved this page" in text_of(page)
    assert len(page.xpath("//li[@class='bookmark']")) == 1


async def test_an_invalid_url_is_reported_next_to_the_field(alice: Visitor) -> None:
    for url in ("", "javascript:alert(1)", "ftp://example.org/", "https://name:word@example.org/"):
        answer = await alice.send("/bookmarks", url=url)
        assert answer.status_code == 422, url
        assert "This is not the address of a page." in answer.text
    assert "No bookmarks yet" in text_of(await alice.see("/bookmarks"))


async def test_a_bookmark_is_edited_and_deleted(alice: Visitor) -> None:
    await alice.send("/bookmarks", url="https://example.org/a")
    [edit] = (await alice.see("/bookmarks")).xpath("//div[contains(@class, 'editing')]/form[1]/@action")

    await alice.send(edit, title=" Über <b>Lärchen</b> ", note="one\r\ntwo")
    changed = await alice.see("/bookmarks")

    assert changed.xpath("//a[@class='name']/text()") == ["Über <b>Lärchen</b>"]
    assert changed.xpath("//p[@class='note']/text()") == ["one\ntwo"]
    await alice.send(f"{edit}/delete")
    assert "No bookmarks yet" in text_of(await alice.see("/bookmarks"))


async def test_a_page_that_could_not_be_fetched_is_explained_and_tried_again(site: Site, alice: Visitor) -> None:
    url = site.web.serve("/gone", Answer(status=410))
    await alice.send("/bookmarks", url=url)
    await site.app.bookmarks.read_pages()
    page = await alice.see("/bookmarks")
    assert "The page could not be fetched; the bookmark is kept." in text_of(page)

    site.web.serve("/gone", Answer(PAGE, headers={"Content-Type": "text/html"}))
    [retry] = page.xpath("//div[@class='fetching failed']/form/@action")
    await alice.send(retry)
    await site.app.bookmarks.read_pages()

    assert "On larch" in text_of(await alice.see("/bookmarks"))


async def test_other_users_cannot_see_or_change_a_bookmark(alice: Visitor, charlie: Visitor) -> None:
    await alice.send("/bookmarks", url="https://example.org/a")
    [edit] = (await alice.see("/bookmarks")).xpath("//div[contains(@class, 'editing')]/form[1]/@action")

    assert "No bookmarks yet" in text_of(await charlie.see("/bookmarks"))
    assert (await charlie.client.get(edit)).status_code == 404
    assert (await charlie.send(edit, title="mine", note="")).status_code == 404
    for path in (f"{edit}/delete", f"{edit}/retry"):
        assert (await charlie.send(path)).status_code == 404, path
    assert "mine" not in text_of(await alice.see("/bookmarks"))
