"""The article page without scripts."""

import json
import re
from html import escape
from urllib.parse import parse_qs, urlsplit

import pytest

from feedmill.engine.jobs import ArchiveImages, Priority
from feedmill.html import players
from feedmill.html.drawings import MAX_LENGTH
from feedmill.store.database import Step
from feedmill.store.schema import raw_bodies
from tests.archive.images import sample_images
from tests.browser import sample_feeds
from tests.browser.sample_feeds import SampleEntry, SampleFeed, subscribe_to
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of, titles

LONG_TEXT = "<p>The stone turns slowly at first, then faster, and the flour comes warm from between the two.</p>" * 12


async def test_opening_an_article_shows_it_and_marks_it_read(alice: Visitor) -> None:
    [href] = (await alice.see("/unread")).xpath("//a[@class='title'][contains(., '清晨')]/@href")

    page = await alice.see(href)

    assert "清晨五点，水闸缓缓打开" in text_of(page)
    assert [h1.text_content() for h1 in page.xpath("//h1")] == ["清晨的水闸：一座老磨坊的一天"]
    assert page.xpath("//div[contains(@class, 'body')]/@lang") == ["zh-CN"]
    assert len(titles(await alice.see("/unread"))) == 7


async def test_a_prefetch_or_a_script_does_not_mark_the_article_read(alice: Visitor) -> None:
    for headers in ({"Sec-Purpose": "prefetch"}, {"HX-Request": "true"}, {"Sec-Fetch-Site": "cross-site"}):
        await alice.see("/item/1?in=/unread", headers=headers)

    assert len(titles(await alice.see("/unread"))) == 8


async def test_a_fragment_is_the_article_without_the_page_frame(alice: Visitor) -> None:
    answer = await alice.client.get("/item/1?in=/all", headers={"HX-Request": "true"})

    assert "<html" not in answer.text
    assert 'class="article"' in answer.text
    assert 'href="/all"' in answer.text


async def test_an_article_is_inert(site: Site, alice: Visitor) -> None:
    await sample_feeds.subscribe_to(site, await alice.user(site), sample_feeds.sample_feeds(site.web.url(""))[-1])
    [href] = (await alice.see("/unread")).xpath("//a[@class='title'][contains(., 'tries everything')]/@href")

    [body] = (await alice.see(href)).xpath("//div[contains(@class, 'body')]")

    assert "hx-ignore" in body.attrib
    assert {"Before.", "After.", "quiet words"} <= {text.strip() for text in body.itertext()}
    tags = {element.tag for element in body.iterdescendants()}
    assert not tags & {"script", "iframe", "form", "input", "button", "style"}
    names = {name for element in body.iterdescendants() for name in element.attrib}
    assert [name for name in names if name.startswith(("on", "hx-", "data-hx-", "style"))] == []
    assert "javascript:" not in "".join(body.xpath(".//@href"))


async def test_an_article_without_a_title_is_headed_as_in_the_list(site: Site, alice: Visitor) -> None:
    sample_feed = SampleFeed("/u.xml", "U", [SampleEntry("", "<p>A piece <b>without</b> a title.</p>")])
    await subscribe_to(site, await alice.user(site), sample_feed)
    [href] = (await alice.see("/unread")).xpath("//a[@class='title'][.='A piece without a title.']/@href")

    page = await alice.see(href)

    assert [h1.text_content() for h1 in page.xpath("//h1")] == ["A piece without a title."]
    assert page.findtext(".//title") == "A piece without a title. · Feedmill"


async def test_the_page_of_a_player_frames_one_site_and_only_we_frame_it(alice: Visitor) -> None:
    answer = await alice.client.get("/player/vimeo/76979871-8272103f6e?start=61")
    policy = answer.headers["content-security-policy"]

    assert "frame-src https://player.vimeo.com;" in policy
    assert "frame-ancestors 'self'" in policy
    assert "script-src" not in policy
    assert 'src="https://player.vimeo.com/video/76979871?autoplay=1&amp;dnt=1&amp;h=8272103f6e#t=61s"' in answer.text
    for path in ("/player/vimeo/x", "/player/youtube/videoseries", "/player/evil/dQw4w9WgXcQ", "/player/youtube/a%22b"):
        assert (await alice.client.get(path)).status_code == 404, path
    assert "frame-ancestors 'none'" in (await alice.client.get("/all")).headers["content-security-policy"]


async def test_attached_images_are_shown_unless_the_text_has_them(site: Site, alice: Visitor) -> None:
    new, known = site.web.url("/new.png?a=1&b=2"), site.web.url("/the-wheel.png")
    files = "".join(
        f"<enclosure url='{escape(url)}' type='{type}' length='1'/>"
        for url, type in [(new, "image/png"), (known, "image/png"), (site.web.url("/file.zip"), "application/zip")]
    )
    html = f"<p>Text <img src='{site.web.url('/the-wheel-300x200.png')}'></p>"
    sample_feed = SampleFeed("/i.xml", "I", [SampleEntry("Pictures", html, more=files)])
    await subscribe_to(site, await alice.user(site), sample_feed)
    [href] = (await alice.see("/unread")).xpath("//a[@class='title'][.='Pictures']/@href")

    page = await alice.see(href)

    shown = [parse_qs(urlsplit(source).query)["url"][0] for source in page.xpath("//article//img/@src")]
    assert shown == [site.web.url("/the-wheel-300x200.png"), new]
    assert page.xpath("//footer//li/a/text()") == ["file.zip"]


async def test_an_article_whose_page_is_a_video_has_its_card_above_the_text(site: Site, alice: Visitor) -> None:
    video = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
    frame = "<iframe src='https://www.youtube.com/embed/dQw4w9WgXcQ'></iframe>"
    entries = [SampleEntry("Told", "<p>Told.</p>", link=video), SampleEntry("Framed", f"<p>a</p>{frame}", link=video)]
    await subscribe_to(site, await alice.user(site), SampleFeed("/v.xml", "V", entries))
    page = await alice.see("/unread")

    bodies = []
    for title in ("Told", "Framed"):
        [href] = page.xpath(f"//a[@class='title'][.='{title}']/@href")
        [body] = (await alice.see(href)).xpath("//article/div[contains(@class, 'body')]")
        bodies.append([(each.tag, each.get("data-player")) for each in body])

    assert bodies[0] == [("a", "/player/youtube/dQw4w9WgXcQ"), ("p", None)]
    assert bodies[1] == [("p", None), ("a", "/player/youtube/dQw4w9WgXcQ")]


async def test_a_drawing_is_served_as_an_inert_image_to_those_who_may_read_it(
    site: Site, alice: Visitor, charlie: Visitor
) -> None:
    long = f"<svg width='90' height='90'><desc>{'x' * MAX_LENGTH}</desc></svg>"
    html = f"<svg width='90' height='90'><circle r='5'/></svg>{long}"
    await subscribe_to(site, await alice.user(site), SampleFeed("/d.xml", "D", [SampleEntry("Drawn", html)]))
    [href] = (await alice.see("/unread")).xpath("//a[@class='title'][.='Drawn']/@href")
    small, large = (await alice.see(href)).xpath("//article//img/@src")

    shown, left_out = await alice.client.get(small), await alice.client.get(large)

    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/svg+xml")
    assert shown.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert "<circle r=" in shown.text
    assert (left_out.status_code, "Open the original: <a href=" in left_out.text) == (404, True)
    assert (await alice.client.get(small.replace("n=0", "n=9"))).status_code == 404
    assert (await charlie.client.get(small)).status_code == 404


VIMEO = "<iframe src='https://player.vimeo.com/video/76979871'></iframe>"
VIMEO_DETAILS = "/oembed?url=https%3A%2F%2Fvimeo.com%2F76979871"


async def test_the_site_of_a_video_is_asked_once_for_its_title_and_picture(
    site: Site, alice: Visitor, charlie: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    still = site.web.serve("/still.png", Answer(sample_images.PNG))
    details = Answer(json.dumps({"title": "Wheels &amp; water", "thumbnail_url": still}).encode())
    monkeypatch.setitem(players.DETAILS_URLS, "vimeo", site.web.serve("/oembed", details) + "?url=")
    await subscribe_to(site, await alice.user(site), SampleFeed("/v.xml", "V", [SampleEntry("Filmed", VIMEO)]))
    [href] = (await alice.see("/unread")).xpath("//a[@class='title'][.='Filmed']/@href")
    [image] = (await alice.see(href)).xpath("//img[@class='still']")
    assert (await alice.client.get(image.get("src").replace("76979871", "1"))).status_code == 404
    assert (await charlie.client.get(image.get("src"))).status_code == 404
    assert site.web.seen(VIMEO_DETAILS) == []

    answer = await alice.client.get(image.get("src"))
    title = await alice.client.get(image.get("data-title"))
    page = await alice.see(href)

    assert (await alice.client.get(answer.headers["location"])).content == sample_images.PNG
    assert (title.text, title.headers["content-type"]) == ("Wheels & water", "text/plain; charset=utf-8")
    assert page.xpath("//a[@data-player]//span[@class='name']/text()") == ["Wheels & water"]
    assert page.xpath("//img[@class='still']/@data-title") == []
    assert len(site.web.seen(VIMEO_DETAILS)) == 1


@pytest.mark.parametrize(
    "details",
    [Answer(status=404), Answer(b"[1"), Answer(b'{"thumbnail_url": "javascript:x"}'), Answer(b'{"title": 1}')],
)
async def test_a_video_of_which_its_site_says_nothing_keeps_its_card(
    site: Site, alice: Visitor, monkeypatch: pytest.MonkeyPatch, details: Answer
) -> None:
    monkeypatch.setitem(players.DETAILS_URLS, "vimeo", site.web.serve("/oembed", details) + "?url=")
    await subscribe_to(site, await alice.user(site), SampleFeed("/v.xml", "V", [SampleEntry("Filmed", VIMEO)]))
    [href] = (await alice.see("/unread")).xpath("//a[@class='title'][.='Filmed']/@href")
    [image] = (await alice.see(href)).xpath("//img[@class='still']")

    assert (await alice.client.get(image.get("src"))).status_code == 404
    assert (await alice.client.get(image.get("data-title"))).status_code == 404

    page = await alice.see(href)
    assert page.xpath("//img[@class='still']") == []
    assert page.xpath("//a[@data-player]//span[@class='name']/text()") == ["Vimeo"]
    assert len(site.web.seen(VIMEO_DETAILS)) == 1


async def stone_article(site: Site, alice: Visitor) -> str:
    """Subscribes to the feed whose first article has an image, and returns the address of that article."""
    await sample_feeds.subscribe_to(site, await alice.user(site), sample_feeds.sample_feeds(site.web.url(""))[0])
    [href] = (await alice.see("/unread")).xpath("//a[@class='title'][contains(., 'Which stone')]/@href")
    return str(href)


async def test_an_image_that_is_not_archived_is_fetched_when_it_is_looked_at(site: Site, alice: Visitor) -> None:
    site.web.serve("/wheel.png", Answer(sample_images.PNG, headers={"Content-Type": "image/png"}))
    href = await stone_article(site, alice)

    [source] = (await alice.see(href)).xpath("//article//img/@src")
    assert site.web.seen("/wheel.png") == []
    shown = await alice.client.get(source)

    assert (shown.content, shown.headers["content-type"]) == (sample_images.PNG, "image/png")
    assert "sandbox" in shown.headers["content-security-policy"]
    [archived] = (await alice.see(href)).xpath("//span[@class='kept']/img/@src")
    assert archived.startswith("/images/")
    assert (await alice.client.get(source)).headers["location"] == archived
    assert len(site.web.seen("/wheel.png")) == 1


async def test_an_image_that_the_site_no_longer_has_is_said_to_be_gone(site: Site, alice: Visitor) -> None:
    site.web.serve("/wheel.png", Answer(status=404))
    href = await stone_article(site, alice)
    [source] = (await alice.see(href)).xpath("//article//img/@src")

    answer = await alice.client.get(source)
    page = await alice.see(href)

    assert (answer.status_code, "The site no longer has this image." in answer.text) == (404, True)
    assert page.xpath("//article//img") == []
    assert "The site no longer has this image." in text_of(page)
    [load] = page.xpath("//div[@class='notice']/a/@href")
    assert (await alice.see(load)).xpath("//article//img/@src") == [site.web.url("/wheel.png")]


async def test_only_signed_addresses_of_images_are_fetched(site: Site, alice: Visitor, charlie: Visitor) -> None:
    site.web.serve("/wheel.png", Answer(sample_images.PNG))
    href = await stone_article(site, alice)
    [source] = (await alice.see(href)).xpath("//article//img/@src")

    other_image = source.replace("wheel", "other")
    other_entry = re.sub(r"/item/\d+/", "/item/1/", source)
    for address in (other_image, other_entry, source.partition("&signature")[0], f"{source}%C3%A9"):
        assert (await alice.client.get(address)).status_code == 404, address

    assert (await charlie.client.get(source)).status_code == 404
    assert site.web.seen("/wheel.png") == []


async def test_the_previous_and_next_articles_are_those_of_the_view(alice: Visitor) -> None:
    hrefs = (await alice.see("/folder/2?show=all")).xpath("//a[@class='title']/@href")

    page = await alice.see(hrefs[1])

    assert page.xpath("//a[@rel='prev']/@href") == [hrefs[0]]
    assert page.xpath("//a[@rel='next']/@href") == [hrefs[2]]
    assert page.xpath("//a[@data-closes-pane]/@href") == ["/folder/2"]
    assert (await alice.see(hrefs[0])).xpath("//a[@rel='prev']") == []
    assert (await alice.see(hrefs[2])).xpath("//a[@rel='next']") == []


async def test_an_article_opens_also_when_it_has_left_the_view(alice: Visitor) -> None:
    page = await alice.see("/item/1?in=/folder/999")

    assert page.xpath("//a[@data-closes-pane]/@href") == ["/unread"]


async def test_an_article_is_beside_the_list_that_its_address_names(alice: Visitor) -> None:
    rows = titles(await alice.see("/folder/2?show=all&order=oldest"))
    [href] = (await alice.see("/folder/2")).xpath(f"//a[@class='title'][.='{rows[1]}']/@href")

    alice.client.cookies.delete("feedmill_views")
    page = await alice.see(href)

    assert (titles(page), page.xpath("//li[contains(@class, 'opened')]//a[@class='title']/text()")) == (rows, [rows[1]])
    assert page.xpath("//li[contains(@class, 'opened unread')]") == []
    assert page.xpath("//div[@class='frame reading']//nav//a[@aria-current]/@href") == ["/folder/2"]
    assert [page.xpath(f"//a[@rel='{rel}']/@href")[0].split("?")[0] for rel in ("prev", "next")] == [
        link.split("?")[0] for link in page.xpath("//a[@class='title']/@href")[::2]
    ]


async def test_what_was_read_stays_beside_its_article_in_the_unread_list(alice: Visitor) -> None:
    rows, hrefs = titles(page := await alice.see("/unread")), page.xpath("//a[@class='title']/@href")
    await alice.see(hrefs[1])

    page = await alice.see(hrefs[3])

    assert titles(page) == [rows[0], *rows[2:]]
    assert titles(await alice.see("/unread")) == [rows[0], rows[2], *rows[4:]]


async def test_an_address_of_no_view_shows_the_article_alone(alice: Visitor) -> None:
    for path in (
        "",
        "/nowhere",
        "/unread?x",
        "//evil.example",
        "https://evil.example/",
        "/folder/x",
        "/item/1",
        "\x00",
    ):
        page = await alice.see("/item/1", params={"in": path})
        assert (page.xpath("//form[@id='list']"), len(page.xpath("//article"))) == ([], 1), path
        assert page.xpath("//a[@data-closes-pane]/@href") == ["/unread"]


async def test_an_article_in_a_list_that_it_is_not_in_is_beside_the_start_of_it(alice: Visitor) -> None:
    for path in ("/starred", "/folder/2", "/today?show=unread"):
        page = await alice.see(f"/item/5?in={path}")
        assert page.xpath("//li[contains(@class, 'opened')]") == [], path
        assert len(page.xpath("//article")) == 1


async def test_the_address_of_an_article_shows_nothing_of_others(alice: Visitor, charlie: Visitor, site: Site) -> None:
    await subscribe_to(site, await charlie.user(site), SampleFeed("/his.xml", "His", [SampleEntry("His own")]))
    [href] = (await charlie.see("/unread")).xpath("//a[@class='title']/@href")

    assert (await alice.client.get(href)).status_code == 404
    page = await charlie.see(f"{href.split('?')[0]}?in=/folder/1")

    assert titles(page) == ["His own"]
    assert page.xpath("//a[@data-closes-pane]/@href") == ["/unread"]
    assert (await charlie.client.get("/news?view=/folder/1&after=0")).status_code == 404
    assert (await charlie.client.get("/news?view=/unread&after=0")).json() == {"n": 0}


async def test_labels_are_created_added_and_removed(alice: Visitor) -> None:
    await alice.send("/item/1/labels", new="  Wheels &  water ")
    page = await alice.see("/item/1")
    assert page.xpath("//a[@class='chip']/text()") == ["Wheels & water"]
    assert page.xpath("//input[@name='label']/@checked") == ["checked"]
    assert len(titles(await alice.see("/label/1"))) == 1
    assert "Wheels & water" in text_of(await alice.see("/unread"))

    await alice.send("/item/2/labels", new="Wheels & water")
    assert len(titles(await alice.see("/label/1"))) == 2

    await alice.send("/item/1/labels", new="")
    assert (await alice.see("/item/1")).xpath("//a[@class='chip']") == []


async def test_a_user_cannot_label_entries_of_others(alice: Visitor, charlie: Visitor) -> None:
    await alice.send("/item/1/labels", new="mine")

    assert (await charlie.send("/item/1/labels", new="his")).status_code == 404
    await charlie.send("/marks", do="star:1")

    assert (await alice.see("/item/1")).xpath("//a[@class='chip']/text()") == ["mine"]
    assert (await charlie.client.get("/label/1")).status_code == 404


async def test_times_are_in_the_readers_time_zone(alice: Visitor) -> None:
    alice.client.cookies.set("feedmill_zone", "Asia/Tokyo")

    [time] = (await alice.see("/item/1")).xpath("//article//time")

    assert time.text.endswith(" JST")
    assert time.get("datetime").endswith("+09:00")


async def test_the_whole_article_is_fetched_on_demand_and_kept(site: Site, alice: Visitor) -> None:
    page = f"<html><body><nav>Menu</nav><article><h1>Stones</h1>{LONG_TEXT}</article></body></html>"
    link = site.web.serve("/stones", Answer(page.encode(), headers={"Content-Type": "text/html"}))
    sample_feed = SampleFeed("/s.xml", "S", [SampleEntry("Stones", "<p>Short.</p>", link=link)])
    await subscribe_to(site, await alice.user(site), sample_feed)
    [href] = (await alice.see("/unread")).xpath("//a[@class='title'][.='Stones']/@href")
    [action] = (await alice.see(href)).xpath("//form[contains(@action, 'full-text')]/@action")

    answer = await alice.send(action, **{"in": "/unread"})

    whole = await alice.see(answer.headers["location"])
    assert "turns slowly at first" in text_of(whole.xpath("//article")[0])
    [own] = whole.xpath("//header//a[contains(@href, 'text=feed')]/@href")
    assert "Short." in text_of((await alice.see(own)).xpath("//article")[0])


async def test_a_failed_full_text_fetch_is_explained(site: Site, alice: Visitor) -> None:
    link = site.web.serve("/gone", Answer(status=404))
    sample_feed = SampleFeed("/g.xml", "G", [SampleEntry("Gone", "<p>Short.</p>", link=link)])
    await subscribe_to(site, await alice.user(site), sample_feed)
    [href] = (await alice.see("/unread")).xpath("//a[@class='title'][.='Gone']/@href")
    [action] = (await alice.see(href)).xpath("//form[contains(@action, 'full-text')]/@action")

    answer = await alice.send(action)
    page = text_of(await alice.see(answer.headers["location"]))
    part = await alice.client.post(action, data={"csrf": alice.csrf()}, headers={"HX-Request": "true"})

    assert "could not be fetched: the server answered with HTTP 404" in page
    assert "could not be fetched: the server answered with HTTP 404" in part.text
    assert "Short." in part.text


async def test_archived_images_are_served_from_here(site: Site, alice: Visitor) -> None:
    await sample_feeds.subscribe_to(site, await alice.user(site), sample_feeds.sample_feeds(site.web.url(""))[0])
    site.web.serve("/wheel.png", Answer(sample_images.PNG, headers={"Content-Type": "image/png"}))
    await site.parts.engine.run(ArchiveImages(), Priority.MANUAL)
    await alice.send("/appearance", density="cards", quiet="yes")

    page = await alice.see("/unread")
    [href] = page.xpath("//a[@class='title'][contains(., 'Which stone')]/@href")
    [source] = (await alice.see(href)).xpath("//article//img/@src")

    assert page.xpath("//img[@class='picture']/@src") == [source]
    assert source.startswith("/images/")
    assert (await alice.client.get(source)).content == sample_images.PNG


async def test_an_article_links_to_the_raw_body_that_it_came_from(site: Site, alice: Visitor, charlie: Visitor) -> None:
    [source] = (await alice.see("/item/1")).xpath("//article//a[.='Source XML']/@href")

    answer = await alice.client.get(source)

    assert answer.headers["location"] == "/feed/1/archive/1"
    assert "Queues that forget" in text_of(await alice.see("/feed/1/archive/1"))
    assert (await charlie.client.get(source)).status_code == 404
    await site.app.db.batch([Step(raw_bodies.delete())])
    gone = await alice.client.get(source)
    assert gone.headers["location"] == "/feed/1/archive"
    assert "no longer stored" in text_of(await alice.see("/feed/1/archive"))
