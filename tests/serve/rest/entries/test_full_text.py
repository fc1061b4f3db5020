"""`POST /api/entries/{id}/full-text`."""

import pytest

from tests.html.test_readability import ARTICLE, MENU
from tests.library.small_library import SmallLibrary
from tests.scripted_web import Answer
from tests.serve.rest.site import Person, Site

PAGE = f"<html><body><nav>{MENU}</nav><div>{ARTICLE}</div><script>alert(1)</script></body></html>"
HTML = {"Content-Type": "text/html"}


@pytest.fixture
async def entry(site: Site, alice: Person) -> int:
    """An entry of a feed that sends no text."""
    library = SmallLibrary(site.app.db)
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    [entry] = await library.arrive(feed, "a", content_html=None, link=site.web.url("/page"))
    return entry


async def test_the_article_is_fetched_once_sanitized_and_kept(site: Site, alice: Person, entry: int) -> None:
    site.web.serve("/page", Answer(PAGE.encode(), headers=HTML))

    first = await alice.post(f"/entries/{entry}/full-text")
    again = await alice.post(f"/entries/{entry}/full-text")
    shown = (await alice.get(f"/entries/{entry}")).json()

    assert (first.status_code, again.status_code) == (200, 200)
    assert "The river rose" in shown["full_html"]
    assert "Menu item" not in shown["full_html"]
    assert f'src="{site.web.url("/flood.jpg")}"' in shown["full_html"]
    assert shown["html"] == ""
    assert len(site.web.requests) == 1


async def test_the_article_is_fetched_again_on_request(site: Site, alice: Person, entry: int) -> None:
    site.web.serve("/page", Answer(PAGE.encode(), headers=HTML))
    await alice.post(f"/entries/{entry}/full-text")
    site.web.serve("/page", Answer(PAGE.replace("river", "lake").encode(), headers=HTML))

    anew = await alice.post(f"/entries/{entry}/full-text?again=true")

    assert "The lake rose" in anew.json()["full_html"]


@pytest.mark.parametrize(
    ("served", "status", "code"),
    [
        (Answer(b"<p>Nothing here.</p>", headers=HTML), 409, "no_text"),
        (Answer(b"%PDF", headers={"Content-Type": "application/pdf"}), 409, "not_a_page"),
        (Answer(b"", status=404), 409, "unreachable"),
        (Answer(b"", status=429, headers={"Retry-After": "120"}), 429, "too_many"),
    ],
)
async def test_a_failure_is_explained(
    site: Site, alice: Person, entry: int, served: Answer, status: int, code: str
) -> None:
    site.web.serve("/page", served)

    answer = await alice.post(f"/entries/{entry}/full-text")

    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_an_entry_without_a_link_has_nothing_to_fetch(site: Site, alice: Person) -> None:
    library = SmallLibrary(site.app.db)
    feed = await library.feed("other")
    await library.subscribe(alice.user, feed)
    [entry] = await library.arrive(feed, "a", link=None)

    answer = await alice.post(f"/entries/{entry}/full-text")

    assert (answer.status_code, answer.json()["code"]) == (409, "no_link")
