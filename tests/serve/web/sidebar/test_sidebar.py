"""The sidebar: which rows a page carries, how it is left, and its size with a thousand feeds."""

from typing import Any

import pytest
from lxml import html

from feedmill.library.subscriptions.folders import ensure_folders
from tests.serve.rest.site import Site
from tests.serve.web.many_feeds import ManyFeeds, add_many_feeds
from tests.serve.web.visitor import Visitor

MOST_HTML = 60_000
HX = {"HX-Request": "true"}


@pytest.fixture
async def many(site: Site, alice: Visitor) -> ManyFeeds:
    return await add_many_feeds(site.app.db, await alice.user(site))


def rows(page: Any) -> list[str]:
    return [str(href) for href in page.xpath("//ul[@class='feeds']/li[not(@class='gap')]/a/@href")]


def gaps(page: Any) -> list[tuple[int, int]]:
    return [(int(gap.get("data-first")), int(gap.get("data-last"))) for gap in page.xpath("//li[@class='gap']")]


@pytest.mark.parametrize("path", ["/unread", "/all", "/feed/500", "/folder/10?show=all"])
async def test_a_list_page_is_small_with_a_thousand_feeds(alice: Visitor, many: ManyFeeds, path: str) -> None:
    page = await alice.client.get(path)

    assert page.status_code == 200
    assert page.text.count('class="row ') > 0 or "/feed/" in path
    assert len(page.content) <= MOST_HTML


async def test_every_feed_is_reached_by_filling_the_gaps(alice: Visitor, many: ManyFeeds) -> None:
    page = await alice.see("/all")
    seen = rows(page)
    while waiting := gaps(page):
        first, last = waiting[0]
        part = await alice.client.get(f"/sidebar?first={first}&last={last}&near={first}&at=/all", headers=HX)
        fragment = f"<ul class='feeds'>{part.text}</ul>"
        page = html.fromstring(fragment)
        seen += rows(page)

    assert {f"/feed/{id}" for id in many.subscriptions} <= set(seen)
    assert len(seen) == len(set(seen))


async def test_the_page_of_a_feed_carries_the_rows_around_it(alice: Visitor, many: ManyFeeds) -> None:
    page = await alice.see(f"/feed/{many.subscriptions[700]}")

    assert f"/feed/{many.subscriptions[701]}" in rows(page)
    assert page.xpath("//ul[@class='feeds']//a[@aria-current='page']/@href") == [f"/feed/{many.subscriptions[700]}"]
    assert len(gaps(page)) == 2


async def test_a_closed_folder_stays_closed_on_every_device(site: Site, alice: Visitor) -> None:
    page = await alice.see("/all")
    folder = page.xpath("//button[@name='folder']/@value")[0]
    feed = page.xpath(f"//li[@data-in='{folder}']/a/@href")[0]

    await alice.send("/sidebar", folder=folder, next="/all")

    other_device = await Visitor.signed_in(site, "alice")
    assert feed not in rows(await other_device.see("/all"))
    await alice.send("/sidebar", folder=folder, next="/all")
    assert feed in rows(await other_device.see("/all"))


async def test_without_scripts_a_folder_is_closed_by_its_button_and_the_page_comes_again(alice: Visitor) -> None:
    answer = await alice.send("/sidebar", collapsed="1", next="/all")

    assert (answer.status_code, answer.headers["location"]) == (303, "/all")
    page = await alice.see("/all")
    assert set(page.xpath("//button[@name='folder']/@aria-expanded")) == {"false"}
    assert not page.xpath("//li[@data-in]")


async def test_only_feeds_with_unread_are_shown_and_the_one_that_is_open(site: Site, alice: Visitor) -> None:
    many = await add_many_feeds(site.app.db, await alice.user(site), count=9, folders=0, unread_every=3)
    every = {f"/feed/{id}" for id in many.subscriptions}

    await alice.send("/sidebar", unread="1", next="/all")

    assert len(every & set(rows(await alice.see("/all")))) == 3
    quiet = (every - set(rows(await alice.see("/all")))).pop()
    assert quiet in rows(await alice.see(quiet))


async def test_the_filter_finds_feeds_in_closed_folders_by_every_word(alice: Visitor, many: ManyFeeds) -> None:
    await alice.send("/sidebar", collapsed="1", next="/all")

    page = await alice.see("/sidebar?q=WATER+feed+777&at=/all", headers=HX)

    assert [href for href in rows(page) if "/feed/" in href] == [f"/feed/{many.subscriptions[776]}"]
    assert "No feed has that in its name." in (await alice.see("/sidebar?q=nothing+like+it", headers=HX)).text_content()


async def test_feeds_and_folders_are_in_natural_order(site: Site, alice: Visitor) -> None:
    user = await alice.user(site)
    await add_many_feeds(site.app.db, user, count=11, folders=0)
    await ensure_folders(site.app.db, user.id, [("Part 10",), ("Part 2",), ("part 1",)])

    names = [str(name) for name in (await alice.see("/all")).xpath("//ul[@class='feeds']//span[@class='name']/text()")]

    assert [name for name in names if name.casefold().startswith("part")] == ["part 1", "Part 2", "Part 10"]
    numbers = [int(name.split()[1]) for name in names if name.startswith("Feed ")]
    assert numbers == sorted(numbers)
    table = (await alice.see("/feeds?q=Feed")).xpath("//th[contains(@class, 'c-title')]/a[1]/text()")
    assert [name for name in table if name.startswith("Feed ")] == [name for name in names if name.startswith("Feed ")]


async def test_the_next_feed_with_unread_is_found_beyond_the_rows_of_the_page(site: Site, alice: Visitor) -> None:
    many = await add_many_feeds(site.app.db, await alice.user(site), count=200, folders=0, unread_every=150)
    [unread] = [id for id in many.subscriptions if await _has_unread(alice, id)][:1]

    onward = await alice.client.get(f"/next-unread?at=/feed/{many.subscriptions[0]}&by=1")
    back = await alice.client.get(f"/next-unread?at=/feed/{many.subscriptions[-1]}&by=-1")

    assert onward.headers["location"] == back.headers["location"] == f"/feed/{unread}"
    assert (await alice.client.get("/next-unread?at=//evil.example")).headers["location"].startswith("/f")


async def _has_unread(alice: Visitor, id: int) -> bool:
    counts = (await alice.client.get("/counts")).json()
    return bool(counts["feeds"].get(str(id)))
