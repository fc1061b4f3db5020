"""Entry lists, and marking entries, without scripts."""

import re
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from lxml import html

from feedmill.engine.jobs import ArchiveImages, Priority
from feedmill.store.database import Step
from feedmill.store.schema import feeds, image_tasks
from tests.archive.images import sample_images
from tests.browser.sample_feeds import SampleEntry, SampleFeed, sample_feeds, subscribe_to
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of, titles

ENGLISH = "Against the clever cache"
CHINESE = "面粉、石头与耐心"


async def test_unread_entries_are_listed_newest_first_with_their_feeds(alice: Visitor) -> None:
    page = await alice.see("/unread")

    assert titles(page)[0].startswith("Queues that forget")
    assert titles(page)[-1] == ENGLISH
    assert page.xpath("//*[@id='count-unread']/text()") == ["8"]
    assert page.xpath("//a[@aria-current='page']/@href") == ["/unread"]


async def test_a_folder_shows_its_own_entries_and_the_order_is_remembered(alice: Visitor) -> None:
    [folder] = [href for href in (await alice.see("/unread")).xpath("//a/@href") if "/folder/2" in href]

    turned = await alice.see(f"{folder}?order=oldest&show=all")
    later = await alice.see(folder)

    assert titles(turned)[0] == CHINESE
    assert titles(later) == titles(turned)
    assert titles(await alice.see("/all"))[0] != CHINESE


def at_noon(visitor: Visitor) -> None:
    """Sets the visitor's time zone so that it is about noon there now."""
    visitor.client.cookies.set("feedmill_zone", f"Etc/GMT{datetime.now(UTC).hour - 12:+}")


async def test_today_starts_at_midnight_in_the_readers_time_zone(alice: Visitor) -> None:
    at_noon(alice)

    page = await alice.see("/today")
    turned = await alice.see("/today?order=oldest")

    assert len(titles(page)) == 4
    assert titles(page)[0].startswith("Queues that forget")
    assert titles(turned) == titles(page)[::-1]
    alice.client.cookies.set("feedmill_zone", "Nowhere/At_All")
    assert (await alice.client.get("/today")).status_code == 200


async def test_the_articles_of_today_end_with_the_day(alice: Visitor) -> None:
    at_noon(alice)
    hrefs = (await alice.see("/today")).xpath("//a[@class='title']/@href")

    first, last = await alice.see(hrefs[0]), await alice.see(hrefs[-1])

    assert (first.xpath("//a[@rel='prev']"), first.xpath("//a[@rel='next']/@href")) == ([], [hrefs[1]])
    assert last.xpath("//a[@rel='next']") == []


async def test_marking_today_read_leaves_what_is_older(alice: Visitor) -> None:
    at_noon(alice)

    await alice.send("/mark-all-read", view="/today", age="")

    assert len(titles(await alice.see("/unread"))) == 4
    assert "All caught up." in text_of(await alice.see("/today?show=unread"))
    assert len(titles(await alice.see("/today?show=all"))) == 4


async def test_an_entry_without_a_date_says_when_it_was_found_and_does_not_fill_today(
    alice: Visitor, site: Site
) -> None:
    at_noon(alice)
    silent = SampleFeed("/undated.xml", "Undated", [SampleEntry("No date", hours=None), SampleEntry("Old", hours=9000)])
    await subscribe_to(site, await alice.user(site), silent)

    listed = await alice.see("/unread")
    today = await alice.see("/today")
    [href] = listed.xpath("//a[@class='title'][. = 'No date']/@href")
    article = await alice.see(href)

    assert titles(listed)[-2:] == ["Old", "No date"]
    assert "No date" not in titles(today)
    [age] = listed.xpath("//li[contains(., 'No date')]//time/text()")
    assert re.fullmatch(r"found \d{1,2} \w{3,4}", age)
    assert re.match(r"found \d{1,2} \w+ 20\d\d, ", text_of(article.xpath("//article//time")[0]))


async def test_an_article_without_text_takes_no_time_to_read(alice: Visitor, site: Site) -> None:
    bare = SampleFeed("/bare.xml", "Bare", [SampleEntry("Bare", html=""), SampleEntry("Short", html="<p>One word</p>")])
    await subscribe_to(site, await alice.user(site), bare)
    paths = {
        title: (await alice.see("/unread")).xpath(f"//a[@class='title'][. = '{title}']/@href")[0]
        for title in ("Bare", "Short")
    }

    assert "to read" not in text_of((await alice.see(paths["Bare"])).xpath("//article")[0])
    assert "1 min to read" in text_of((await alice.see(paths["Short"])).xpath("//article")[0])


async def test_a_feed_without_entries_is_not_described_as_all_read(alice: Visitor, site: Site) -> None:
    await subscribe_to(site, await alice.user(site), SampleFeed("/silent.xml", "Silent", []))
    [path] = (await alice.see("/unread")).xpath("//nav//a[contains(., 'Silent')]/@href")

    page = text_of(await alice.see(path))

    assert "No items yet" in page
    assert "All caught up." not in page


async def test_what_arrived_after_a_list_was_loaded_is_counted_by_its_ids(alice: Visitor, site: Site) -> None:
    at_noon(alice)
    [after] = (await alice.see("/unread")).xpath("//form[@id='list']/@data-as-of")
    fresh = [SampleEntry("Now", hours=0), SampleEntry("Long ago", hours=900), SampleEntry("Read at once", hours=1)]
    feed = await subscribe_to(site, await alice.user(site), SampleFeed("/fresh.xml", "Fresh", fresh, "New"))
    [read] = (await alice.see(f"/feed/{feed}")).xpath("//li[contains(., 'Read at once')]/@data-id")

    await alice.send("/marks", do=["read:1", f"read:{read}"])

    for view, n in (("/unread", 2), ("/all", 2), (f"/feed/{feed}", 2), ("/folder/3", 2), ("/today", 1), ("/feed/1", 0)):
        answer = await alice.client.get("/news", params={"view": view, "after": after})
        assert answer.json() == {"n": n}, view
    for wrong in ({"view": "/item/1"}, {"after": "x"}, {"after": "-1"}, {"after": "9" * 30}, {"view": ""}):
        assert (await alice.client.get("/news", params={"view": "/unread", "after": after} | wrong)).status_code == 422


async def test_days_have_headings_in_the_readers_time_zone_and_language(alice: Visitor, site: Site) -> None:
    at_noon(alice)
    await alice.send("/marks", do=["read:1", "read:2"])

    def days(page: Any) -> list[tuple[str, int]]:
        """Each heading, and how many rows follow it."""
        rows = page.xpath("//ol[@class='rows']/li[contains(@class, 'row') or @class='day']")
        starts = [place for place, row in enumerate(rows) if row.get("class") == "day"]
        return [(text_of(rows[start]), end - start - 1) for start, end in pairwise([*starts, len(rows)])]

    newest = days(await alice.see("/all"))
    assert [heading for heading, _ in newest[:2]] == ["Today", "Yesterday"]
    assert newest[0][1] == 4
    assert sum(rows for _, rows in newest) == 8
    assert days(await alice.see("/all?order=oldest")) == newest[::-1]
    assert days(await alice.see("/history")) == [("Today", 2)]
    assert (days(await alice.see("/today")), days(await alice.see("/starred"))) == ([], [])
    assert days(await alice.see("/search?q=a&order=date"))[0][0] in ("Today", "Yesterday")
    assert days(await alice.see("/search?q=a")) == []
    chinese = await alice.client.get("/all?order=newest", headers={"Accept-Language": "zh-CN"})
    assert [heading for heading, _ in days(html.fromstring(chinese.text))[:2]] == ["今天", "昨天"]


async def test_a_day_that_goes_on_in_the_next_page_has_one_heading(alice: Visitor, site: Site) -> None:
    at_noon(alice)
    pieces = [SampleEntry(f"Piece {place}", hours=place / 100) for place in range(60)]
    feed = await subscribe_to(site, await alice.user(site), SampleFeed("/many.xml", "Many", pieces))

    page = await alice.see(f"/feed/{feed}")
    [more] = page.xpath("//li[@class='more']/a/@href")
    rest = html.fromstring((await alice.client.get(more, headers={"HX-Request": "true"})).text)

    assert (len(page.xpath("//li[@class='day']")), rest.xpath("//li[@class='day']")) == (1, [])


async def test_titles_have_their_language_and_direction(alice: Visitor) -> None:
    [link] = (await alice.see("/unread")).xpath(f"//a[@class='title'][.='{CHINESE}']")

    assert (link.get("lang"), link.get("dir")) == ("zh-CN", "auto")


async def test_an_entry_without_a_title_shows_the_beginning_of_its_text(site: Site, alice: Visitor) -> None:
    pieces = [SampleEntry("", "<p>Just a <b>thought</b>.</p>"), SampleEntry("", "")]
    await subscribe_to(site, await alice.user(site), SampleFeed("/notes.xml", "Notes", pieces))

    page = await alice.see("/unread")

    assert {"Just a thought.", "Untitled"} <= set(titles(page))
    assert page.xpath("//p[@class='summary'][contains(., 'thought')]") == []


async def test_one_entry_is_starred_from_its_row(alice: Visitor) -> None:
    page = await alice.see("/unread")
    [star] = page.xpath(f"//li[contains(., '{ENGLISH}')]//button[contains(@class, 'star')]")
    [form] = page.xpath("//form[@id='list']")

    answer = await alice.send(form.get("action"), do=star.get("value"), next="/unread")

    assert (answer.status_code, answer.headers["location"]) == (303, "/unread")
    starred = await alice.see("/starred")
    assert titles(starred) == [ENGLISH]
    assert starred.xpath("//button[contains(@class, 'star')]/@aria-pressed") == ["true"]


async def test_ticked_entries_are_marked_together(alice: Visitor) -> None:
    ticked = (await alice.see("/unread")).xpath("//input[@name='id']/@value")[:3]

    await alice.send("/marks", id=ticked, do="read", next="/unread")

    page = await alice.see("/unread")
    assert len(titles(page)) == 5
    assert page.xpath("//*[@id='count-unread']/text()") == ["5"]


async def test_ticked_entries_get_an_existing_or_a_new_label(alice: Visitor) -> None:
    page = await alice.see("/unread")
    ticked = page.xpath("//input[@name='id']/@value")[:3]
    assert page.xpath("//form[@id='list']//button")[0].get("formaction") == "/marks/label"

    await alice.send("/marks/label", id=ticked[:2], new="Wheels", next="/unread")
    [button] = (await alice.see("/unread")).xpath("//button[@name='label']")
    answer = await alice.send("/marks/label", id=ticked[2:], label=button.get("value"), new="", next="/unread")

    assert answer.headers["location"] == "/unread"
    assert "One item was labelled." in text_of(await alice.see("/unread"))
    assert len(titles(await alice.see("/label/1"))) == 3


async def test_nothing_is_labelled_when_no_entry_is_ticked(alice: Visitor) -> None:
    for fields in ({"new": "Wheels"}, {"id": "1"}):
        assert (await alice.send("/marks/label", **fields)).headers["location"] == "/"

    assert (await alice.see("/unread")).xpath("//ul[@class='labels']") == []


async def test_images_of_ticked_entries_are_archived_even_if_the_feed_archives_none(site: Site, alice: Visitor) -> None:
    await subscribe_to(site, await alice.user(site), sample_feeds(site.web.url(""))[0])
    await site.app.db.batch([Step(feeds.update().values(archive_policy="none")), Step(image_tasks.delete())])
    site.web.serve("/wheel.png", Answer(sample_images.PNG, headers={"Content-Type": "image/png"}))
    [href] = (await alice.see("/unread")).xpath("//a[@class='title'][contains(., 'Which stone')]/@href")
    id = href.split("/")[2].split("?")[0]

    await alice.send("/marks/images", id=[id, "999"], next="/unread")
    assert "The images of one item will be fetched" in text_of(await alice.see("/unread"))
    await site.parts.engine.run(ArchiveImages(), Priority.MANUAL)

    [source] = (await alice.see(href)).xpath("//span[@class='kept']/img/@src")
    assert source.startswith("/images/")


async def test_marks_in_one_request_are_applied_in_order(alice: Visitor) -> None:
    [id] = (await alice.see("/unread")).xpath("//input[@name='id']/@value")[:1]

    await alice.send("/marks", do=[f"star:{id}", f"read:{id}", f"unstar:{id}", f"unread:{id}"])

    assert len(titles(await alice.see("/unread"))) == 8
    assert titles(await alice.see("/starred")) == []


async def test_a_script_gets_the_counts_for_its_marks(alice: Visitor) -> None:
    [id] = (await alice.see("/unread")).xpath("//input[@name='id']/@value")[:1]

    answer = await alice.client.post(
        "/marks", data={"csrf": alice.csrf(), "do": f"read:{id}"}, headers={"Accept": "application/json"}
    )

    counts = answer.json()
    assert counts.pop("views").keys() == {"today", "later"}
    assert counts == {"unread": 7, "feeds": {"1": 4, "2": 3}, "folders": {"1": 4, "2": 3}}


@pytest.mark.parametrize("do", ["explode:1", "read:x", "read:-1", "read:99999999999999999999", "read:1:2"])
async def test_an_invalid_mark_is_refused(alice: Visitor, do: str) -> None:
    assert (await alice.send("/marks", do=do)).status_code == 422


async def test_marking_a_folder_read_can_be_undone(alice: Visitor) -> None:
    marked = await alice.send("/mark-all-read", view="/folder/2", age="")
    assert marked.headers["location"] == "/folder/2"
    page = await alice.see("/folder/2")
    assert "3 items marked as read." in text_of(page)
    assert "All caught up." in text_of(page)
    assert page.xpath("//*[@id='count-unread']/text()") == ["5"]

    [undo] = page.xpath("//input[@name='undo']/@value")
    await alice.send("/undo", undo=undo, next="/folder/2")

    assert len(titles(await alice.see("/folder/2"))) == 3


async def test_a_change_of_ticked_entries_says_how_many_it_changed_and_is_undone(alice: Visitor) -> None:
    ticked = (await alice.see("/unread")).xpath("//input[@name='id']/@value")[:3]
    await alice.send("/marks", do=f"read:{ticked[0]}")

    await alice.send("/marks", id=ticked, do="read", next="/unread")
    page = await alice.see("/unread")
    assert "2 items marked as read." in text_of(page)
    [undo] = page.xpath("//input[@name='undo']/@value")
    await alice.send("/undo", undo=undo, next="/unread")

    page = await alice.see("/unread")
    assert (len(titles(page)), "Undone." in text_of(page)) == (7, True)


async def test_one_side_of_an_entry_is_marked_in_the_users_own_view_alone(alice: Visitor, charlie: Visitor) -> None:
    ids = (await alice.see("/unread")).xpath("//input[@name='id']/@value")
    form = {"view": "/folder/1", "order": "newest", "entry": ids[0], "side": "below"}

    assert (await charlie.send("/mark-side-read", **form)).status_code == 404
    assert (await charlie.send("/mark-side-read", **form | {"view": "/all"})).status_code == 404
    for wrong in ({"view": "/item/1"}, {"side": "left"}, {"order": "best"}, {"entry": "x"}):
        assert (await alice.send("/mark-side-read", **form | wrong)).status_code == 422, wrong
    assert len(titles(await alice.see("/unread"))) == 8
    answer = await alice.send("/mark-side-read", **form)

    assert answer.headers["location"] == "/folder/1"
    assert len(titles(await alice.see("/folder/1"))) == 1
    assert len(titles(await alice.see("/unread"))) == 4


async def test_marking_read_with_an_age_marks_older_entries_only(alice: Visitor) -> None:
    await alice.send("/mark-all-read", view="/unread", age="1")

    assert [title for title in titles(await alice.see("/unread")) if title in (ENGLISH, CHINESE)] == []
    assert len(titles(await alice.see("/unread"))) == 5


async def test_a_message_is_shown_once(alice: Visitor) -> None:
    await alice.send("/mark-all-read", view="/unread", age="")

    assert "8 items marked as read." in text_of(await alice.see("/unread"))
    assert "8 items marked as read." not in text_of(await alice.see("/unread"))


async def test_empty_views_explain_what_they_are_for(alice: Visitor, charlie: Visitor) -> None:
    assert "No starred items" in text_of(await alice.see("/starred"))
    assert "Nothing saved for later" in text_of(await alice.see("/later"))
    assert "Nothing read yet" in text_of(await alice.see("/history"))
    assert "Nothing to read yet" in text_of(await charlie.see("/unread"))


async def test_other_users_see_nothing_of_it(alice: Visitor, charlie: Visitor) -> None:
    for path in ("/folder/1", "/feed/1", "/item/1", "/label/1", "/folder/9007199254740993", "/item/9007199254740993"):
        assert (await charlie.client.get(path)).status_code == 404, path
    await charlie.send("/marks", do="read:1")
    await charlie.send("/marks/images", id="1")
    await alice.send("/marks/label", id="2", new="mine")
    await charlie.send("/marks/label", id="1", new="his")
    assert (await charlie.send("/marks/label", id="1", label="1")).status_code == 404
    assert (await charlie.send("/mark-all-read", view="/folder/2", age="")).status_code == 404

    assert len(titles(await alice.see("/unread"))) == 8
    assert titles(await charlie.see("/all")) == []
    assert titles(await charlie.see("/label/2")) == []


async def test_full_texts_in_the_list_are_inert(alice: Visitor) -> None:
    await alice.send("/appearance", density="full", quiet="yes")

    page = await alice.see("/all")

    bodies = page.xpath("//li[contains(@class, 'row')]/div[@class='body']")
    assert len(bodies) == 8
    assert all("hx-ignore" in body.attrib for body in bodies)
    assert "清晨五点，水闸缓缓打开" in text_of(page)


async def test_feed_titles_are_escaped(site: Site, alice: Visitor) -> None:
    piece = SampleEntry("<img src=x onerror=y> & <i>so</i>")
    hostile = SampleFeed("/x.xml", '<b onmouseover="x">&amp;lt;i&amp;gt;"\'', [piece], "<u>F</u>")
    await subscribe_to(site, await alice.user(site), hostile)

    for path in ("/unread", "/all?show=all"):
        page = await alice.see(path)
        assert page.xpath("//nav//b | //nav//i | //nav//u | //li//b | //ol//i | //ol//img") == []
        assert page.xpath("//@onmouseover | //@onerror") == []
