"""The page *Output feeds*: makes feeds of lists, shows their addresses once, and revokes them."""

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from lxml import html

from feedmill.library.users.manage_users import create_first_admin
from tests.browser.sample_feeds import PASSWORD
from tests.scripted_web import Web
from tests.serve.rest.site import Site, running_site
from tests.serve.web.visitor import Visitor, text_of

PAGE = "/settings/output-feeds"


async def test_a_feed_is_made_of_a_list_read_and_revoked(site: Site, alice: Visitor) -> None:
    chosen = await alice.see(f"{PAGE}?list=starred")
    made = await alice.send(PAGE, list="all", name="Alice's mill")
    atom, json_feed = html.fromstring(made.text).xpath("//input[@readonly]/@value")
    reader = await site.browser(**{"User-Agent": "Reader/1.0"})
    read = [await reader.get(urlsplit(url).path) for url in (atom, json_feed)]
    later = await alice.see(PAGE)
    revoked = await alice.send(f"{PAGE}/1/revoke")

    assert chosen.xpath("//option[@selected]/@value") == ["starred"]
    assert [answer.status_code for answer in read] == [200, 200]
    assert ["Alice's mill" in text_of(later), "Reader/1.0" in text_of(later), atom in text_of(later)] == [
        True,
        True,
        False,
    ]
    assert (revoked.status_code, (await reader.get(urlsplit(atom).path)).status_code) == (303, 410)
    assert "There are no output feeds yet." in text_of(await alice.see(PAGE))


async def test_lists_lead_to_it(alice: Visitor) -> None:
    for path in ("/all", "/starred", "/later", "/feed/1", "/folder/1"):
        page = await alice.see(path)

        assert page.xpath(f"//a[@href='{PAGE}?list={path[1:]}']"), path

    assert not (await alice.see("/unread")).xpath(f"//a[starts-with(@href, '{PAGE}')]")


async def test_a_single_feed_is_offered_where_it_is_asked_for(alice: Visitor, charlie: Visitor) -> None:
    assert "feed/1" in (await alice.see(f"{PAGE}?list=feed/1")).xpath("//option/@value")
    assert "feed/1" not in (await alice.see(PAGE)).xpath("//option/@value")
    assert "feed/1" not in (await charlie.see(f"{PAGE}?list=feed/1")).xpath("//option/@value")


async def test_a_list_of_another_user_is_said_at_its_field(charlie: Visitor) -> None:
    answer = await charlie.send(PAGE, list="folder/1", name="")

    assert answer.status_code == 422
    assert html.fromstring(answer.text).xpath("//select[@aria-invalid]")


@pytest.mark.parametrize("name", ["\x07", "\u202e", " \u200b "])
async def test_a_name_that_cannot_be_shown_is_said_at_its_field(alice: Visitor, name: str) -> None:
    answer = await alice.send(PAGE, list="all", name=f"a{name}b")

    assert answer.status_code == 422
    assert html.fromstring(answer.text).xpath("//input[@name='name'][@aria-invalid]")


async def test_a_feed_whose_list_was_deleted_says_so(alice: Visitor) -> None:
    await alice.send(PAGE, list="folder/1", name="")

    await alice.send("/folders/1/delete")

    assert "No longer exists" in text_of(await alice.see(PAGE))


async def test_the_hub_is_offered_only_where_one_is_set(tmp_path: Path, alice: Visitor) -> None:
    async with Web() as web, running_site(tmp_path / "hub", web, websub_hub="https://hub.example.org/") as site:
        await create_first_admin(site.app.db, "alice", PASSWORD, datetime.now(UTC))
        with_hub = await Visitor.signed_in(site, "alice")
        offered = text_of(await with_hub.see(PAGE))
        made = await with_hub.send(PAGE, list="all", name="", announce="yes")
        [atom, _] = html.fromstring(made.text).xpath("//input[@readonly]/@value")
        reader = await site.browser()
        answer = await reader.get(urlsplit(atom).path)

    assert "Tell the hub https://hub.example.org/" in offered
    assert "Tell the hub" not in text_of(await alice.see(PAGE))
    assert answer.headers["link"] == f'<https://hub.example.org/>; rel="hub", <{atom}>; rel="self"'
    assert '<link rel="hub" href="https://hub.example.org/" />' in answer.text
