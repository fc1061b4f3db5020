"""The player of an article without scripts, and what the scripts ask for."""

from datetime import UTC, datetime

from tests.browser.sample_feeds import SampleEntry, SampleFeed, subscribe_to
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of

CHAPTERS = (
    '<chapters xmlns="http://podlove.org/simple-chapters"><chapter start="0" title="Hello"/>'
    '<chapter start="00:12:30.5" title="The &lt;b&gt;stone"/></chapters>'
)
DURATION = '<duration xmlns="http://www.itunes.com/dtds/podcast-1.0.dtd">1:02:03</duration>'
SOUND = '<enclosure url="https://media.example/talk.mp3" type="audio/mpeg" length="4200000"/>'
FILM = '<enclosure url="https://media.example/talk.mp4" type="video/mp4"/>'
RADIO = SampleFeed(
    "/episodes.xml",
    "Episodes",
    [
        SampleEntry("An episode with chapters", more=SOUND + DURATION + CHAPTERS),
        SampleEntry("A film", more=FILM),
    ],
)


async def open_episode(site: Site, alice: Visitor, title: str = "An episode") -> str:
    await subscribe_to(site, await alice.user(site), RADIO)
    [href] = (await alice.see("/unread")).xpath(f"//a[@class='title'][contains(., '{title}')]/@href")
    return str(href)


def item_id(href: str) -> int:
    return int(href.split("?")[0].rpartition("/")[2])


async def test_the_player_stands_above_the_text_with_duration_and_chapters(site: Site, alice: Visitor) -> None:
    href = await open_episode(site, alice)

    page = await alice.see(href)

    [player] = page.xpath("//div[@class='episode']")
    assert player.xpath("following-sibling::div[contains(@class, 'body')]")
    assert player.xpath(".//noscript/audio[@controls]/@preload") == ["none"]
    assert player.xpath("./span[@class='length']/text()") == ["1:02:03"]
    links = player.xpath("./details//li/a")
    assert [" ".join(link.text_content().split()) for link in links] == ["0:00Hello", "12:30The <b>stone"]
    assert links[1].get("href") == "https://media.example/talk.mp3#t=750.5"
    assert {media.get("preload") for media in page.xpath("//audio | //video")} == {"none"}
    assert "talk.mp3" in text_of(page.xpath("//footer")[0])


async def test_a_film_plays_in_its_article(site: Site, alice: Visitor) -> None:
    page = await alice.see(await open_episode(site, alice, "A film"))

    [film] = page.xpath("//div[@class='episode']/video")
    assert (film.get("controls"), film.get("preload")) == ("", "none")


async def test_a_position_is_saved_and_the_player_goes_on_there(site: Site, alice: Visitor, charlie: Visitor) -> None:
    href = await open_episode(site, alice)
    item, now = item_id(href), round(datetime.now(UTC).timestamp() * 1000)

    saved = await alice.send("/positions", position=f"{item}:0:93:{now - 5000}")
    await alice.send("/positions", position=f"{item}:0:12:{now - 90_000}")
    player = await alice.see(f"/item/{item}/player/0", headers={"HX-Request": "true"})

    assert saved.status_code == 204
    assert player.xpath("//audio/@data-at") == ["93"]
    assert player.xpath("//audio/@data-played") == [str(now - 5000)]
    assert "Go on at 1:33" in text_of(await alice.see(href))
    assert (await alice.client.get(f"/item/{item}/player/1")).status_code == 404
    assert (await charlie.client.get(f"/item/{item}/player/0")).status_code == 404


async def test_a_malformed_position_is_refused(site: Site, alice: Visitor) -> None:
    item = item_id(await open_episode(site, alice))

    for wrong in (f"{item}:0:1", f"{item}:0:-1:1", f"{item}:0:1:99999999999999", "x", f"{item}:0:1.5:1"):
        assert (await alice.send("/positions", position=wrong)).status_code == 422, wrong
