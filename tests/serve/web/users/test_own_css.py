"""One's own CSS: edited on a page, served from its own address, and never in the way of its own editor."""

import httpx

from feedmill.library.users.own_css import MAX_BYTES
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of

STYLE = "//link[@rel='stylesheet']/@href"
RULE = ":root { --accent: #063 }"


async def own_css(visitor: Visitor) -> httpx.Response:
    """The CSS at the address that pages name."""
    return await visitor.client.get((await visitor.see("/unread")).xpath(STYLE)[-1])


async def test_own_css_is_linked_after_ours_and_served_as_css_under_the_strict_policy(alice: Visitor) -> None:
    before = (await alice.see("/unread")).xpath(STYLE)
    await alice.send("/appearance/css", css=f"  {RULE}\r\n.row {{ }}")

    styles = (await alice.see("/unread")).xpath(STYLE)
    answer = await own_css(alice)

    assert styles[:-1] == before
    assert (answer.status_code, answer.text) == (200, f"{RULE}\n.row {{ }}")
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "immutable" in answer.headers["cache-control"]
    await alice.send("/appearance/css", css=".row { }")
    assert (await own_css(alice)).text == ".row { }"
    assert (await alice.client.get(styles[-1])).headers["cache-control"] == "no-store"


async def test_its_editor_and_css_off_show_pages_without_it(alice: Visitor) -> None:
    await alice.send("/appearance/css", css="* { display: none }")

    assert len((await alice.see("/unread")).xpath(STYLE)) == 2
    assert len((await alice.see("/unread?css=off")).xpath(STYLE)) == 1
    editor = await alice.see("/appearance/css")
    assert len(editor.xpath(STYLE)) == 1
    assert editor.xpath("//textarea/text()") == ["* { display: none }"]
    await alice.send("/appearance/css", css="")
    assert len((await alice.see("/unread")).xpath(STYLE)) == 1
    assert (await alice.client.get("/appearance/own.css")).status_code == 404


async def test_css_that_loads_something_is_refused_and_stays_in_the_field(alice: Visitor) -> None:
    await alice.send("/appearance/css", css=RULE)

    answer = await alice.send("/appearance/css", css="a { background: url(https://evil.example/x) }")
    long = await alice.send("/appearance/css", css="a" * (MAX_BYTES + 1))

    assert (answer.status_code, long.status_code) == (422, 422)
    assert "This could load something from elsewhere: url(https://evil.example/x) }" in answer.text
    assert "a { background: url(https://evil.example/x) }</textarea>" in answer.text
    assert "longer than 50,000 bytes" in long.text
    assert (await own_css(alice)).text == RULE


async def test_nobody_gets_the_css_of_another_user(site: Site, alice: Visitor, charlie: Visitor) -> None:
    await alice.send("/appearance/css", css=RULE)
    [_, address] = (await alice.see("/unread")).xpath(STYLE)

    assert (await charlie.client.get(address)).status_code == 404
    assert (await (await site.browser()).get(address)).status_code == 303
    assert len((await charlie.see("/unread")).xpath(STYLE)) == 1
    assert RULE not in text_of(await charlie.see("/appearance/css"))
