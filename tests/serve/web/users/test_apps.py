"""The page *Apps*: a password for each device, the steps for each app, and a tick when it has signed in."""

from lxml import html

from feedmill.serve.web.users.known_apps import BY_ID, KNOWN_APPS
from tests.serve.rest.site import ORIGIN, Site
from tests.serve.web.visitor import Visitor, text_of

APPS = "/settings/apps"


async def test_an_app_gets_its_steps_a_password_and_a_tick_when_it_signs_in(site: Site, alice: Visitor) -> None:
    made = await alice.send(APPS, app="netnewswire", name="Alice's phone")
    page = html.fromstring(made.text)
    [password] = page.xpath("//input[@id='made']/@value")
    text = text_of(page)
    [address] = [code for code in page.xpath("//code/text()") if "greader" in code]
    waiting = await alice.see(f"{APPS}/1/sign-in")

    phone = await site.browser()
    signed_in = await phone.post(
        f"{address}/accounts/ClientLogin",
        data={"Email": "alice", "Passwd": password},
        headers={"User-Agent": "NetNewsWire/7"},
    )
    tick = await alice.see(f"{APPS}/1/sign-in")
    later = await alice.see(APPS)

    assert ("FreshRSS" in text, len(page.xpath("//figure[@class='qr-code']/svg"))) == (True, 1)
    assert signed_in.status_code == 200
    assert ("Waiting" in text_of(waiting), "Signed in: NetNewsWire/7" in text_of(tick)) == (True, True)
    assert ("Alice's phone" in text_of(later), password in text_of(later)) == (True, False)


async def test_fever_is_allowed_only_for_apps_that_speak_it(alice: Visitor) -> None:
    await alice.send(APPS, app="unread", name="tablet")
    await alice.send(APPS, app="reeder", name="laptop")

    [tag] = (await alice.see(APPS)).xpath("//tr[.//span[@class='tag']]/th")

    assert "tablet" in text_of(tag)


async def test_a_revoked_password_is_gone(alice: Visitor) -> None:
    await alice.send(APPS, app="newsboat", name="")

    answer = await alice.send(f"{APPS}/1/revoke")

    assert answer.status_code == 303
    assert "No app is connected yet." in text_of(await alice.see(APPS))


async def test_a_name_that_is_too_long_is_said_at_its_field(alice: Visitor) -> None:
    answer = await alice.send(APPS, app="newsboat", name="x" * 101)

    assert answer.status_code == 422
    assert "name the device" in text_of(html.fromstring(answer.text))


async def test_charlie_sees_and_revokes_nothing_of_alices(alice: Visitor, charlie: Visitor) -> None:
    await alice.send(APPS, app="newsboat", name="hers")

    assert (await charlie.client.get(f"{APPS}/1/sign-in")).status_code == 404
    assert (await charlie.send(f"{APPS}/1/revoke")).status_code == 404
    assert "hers" not in text_of(await charlie.see(APPS))


def test_every_app_has_an_id_of_its_own() -> None:
    assert len(BY_ID) == len(KNOWN_APPS)


async def test_the_page_tells_how_an_assistant_connects(site: Site, alice: Visitor) -> None:
    page = await alice.see(APPS)

    [section] = page.xpath("//section[@aria-labelledby='assistant']")
    assert f"{ORIGIN}/mcp" in section.xpath(".//code/text()")
    assert section.xpath(".//a/@href") == ["/settings/api-keys"]
