"""Searching and saved searches without scripts."""

from typing import Any
from unittest.mock import AsyncMock

import pytest
from lxml import html

from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of, titles

CHINESE = "面粉、石头与耐心"


async def test_search_words_are_marked_in_the_results(alice: Visitor) -> None:
    page = await alice.see("/search?q=cache")

    assert titles(page) == ["Against the clever cache"]
    assert page.xpath("//a[@class='title']/mark/text()") == ["cache"]
    assert page.xpath("//input[@class='pick']/@aria-label") == ["Select: Against the clever cache"]
    assert page.xpath("//input[@name='q']/@value")[0] == "cache"
    assert len(page.xpath("//h1")) == 1


async def test_a_chinese_word_is_found_by_two_characters(alice: Visitor) -> None:
    page = await alice.see("/search?q=耐心")

    assert titles(page) == [CHINESE]
    assert page.xpath("//a[@class='title']/mark/text()") == ["耐心"]


async def test_a_match_deep_in_a_text_is_shown_with_its_surroundings(alice: Visitor) -> None:
    page = await alice.see("/search?q=rusts")

    assert page.xpath("//p[@class='summary']/mark/text()") == ["rusts"]
    assert "stands still rusts faster" in text_of(page.xpath("//p[@class='summary']")[0])


async def test_the_query_is_escaped(alice: Visitor) -> None:
    page = await alice.see("/search", params={"q": "<b>x</b> <script>y</script>"})

    assert page.xpath("//main//b | //main//script") == []
    assert "No results for “<b>x</b> <script>y</script>”" in text_of(page)


async def test_a_search_from_a_feed_is_limited_to_it_until_the_limit_is_removed(alice: Visitor) -> None:
    [link] = (await alice.see("/feed/1")).xpath("//header//a[@data-key='/']/@href")
    assert link == "/search?in=/feed/1"

    inside = await alice.see(f"{link}&q=is:unread&order=date")
    everywhere = await alice.see("/search?q=is:unread&in=")

    assert (len(titles(inside)), len(titles(everywhere))) == (5, 8)
    assert inside.xpath("//input[@name='in'][@checked]/@value") == ["/feed/1"]
    assert "In Quiet Systems" in text_of(inside)


async def test_chips_narrow_a_search_and_widen_it_again(alice: Visitor) -> None:
    [narrower] = (await alice.see("/search?q=the")).xpath("//a[@class='term'][contains(., 'Starred')]/@href")

    page = await alice.see(narrower)

    assert page.xpath("//a[@class='term on']/bdi/text()") == ["the", "is:starred"]
    assert page.xpath("//a[@class='term on']/@href") == ["/search?q=is%3Astarred", "/search?q=the"]


async def test_a_search_without_results_offers_looser_ones_that_have_some(alice: Visitor) -> None:
    page = await alice.see("/search", params={"q": "clever cache is:starred"})

    assert "No results for “clever cache is:starred”" in text_of(page)
    offered = page.xpath("//div[@class='empty']//a/@href")
    assert offered[0] == "/search?q=clever+cache"
    assert titles(await alice.see(offered[0])) == ["Against the clever cache"]


async def test_a_word_that_occurs_nowhere_has_no_suggestions(alice: Visitor) -> None:
    page = await alice.see("/search?q=zeppelin")

    assert "No results for “zeppelin”" in text_of(page)
    assert page.xpath("//div[@class='empty']//a") == []


@pytest.mark.parametrize(
    ("text", "before", "at", "said"),
    [
        ('mill "open', "mill ", '"', "This quotation mark is not closed."),
        ("a is:bored", "a ", "i", "is: takes one of: unread, read"),
        ("(a", "", "(", "This parenthesis is not closed."),
        ("feed:", "feed:", "", "A value is missing after feed:"),
    ],
)
async def test_a_syntax_error_is_shown_at_its_position(
    alice: Visitor, text: str, before: str, at: str, said: str
) -> None:
    answer = await alice.client.get("/search", params={"q": text})

    page: Any = html.fromstring(answer.text)
    [code] = page.xpath("//p[@class='place']/code")
    assert answer.status_code == 422
    assert (code.text or "", code.find("span").text or "") == (before, at)
    assert said in text_of(page)
    assert page.xpath("//input[@name='q']/@aria-describedby") == ["mistake"]


async def test_a_syntax_error_is_explained_in_the_readers_language(alice: Visitor) -> None:
    answer = await alice.client.get("/search", params={"q": '"x'}, headers={"Accept-Language": "zh-CN"})

    assert "此引号没有闭合" in answer.text


async def test_an_empty_search_explains_the_syntax(alice: Visitor) -> None:
    page = await alice.see("/search")

    for link in page.xpath("//dl[@class='language']//a/@href"):
        assert (await alice.client.get(link)).status_code == 200, link


async def test_a_saved_search_is_in_the_sidebar_until_it_is_deleted(alice: Visitor) -> None:
    kept = await alice.send("/searches", q="cache", name="Caches", **{"in": "/feed/1"})
    page = await alice.see(kept.headers["location"])

    [link] = page.xpath("//nav//a[contains(., 'Caches')]")
    assert (link.get("href"), link.get("aria-current")) == ("/search?q=feed%3A1+%28cache%29", "page")
    assert titles(page) == ["Against the clever cache"]
    [action] = page.xpath("//form[@class='kept']/@action")
    await alice.send(action, q="cache")
    assert (await alice.see("/search")).xpath("//nav//a[contains(., 'Caches')]") == []


async def test_a_duplicate_name_is_reported_next_to_the_field(alice: Visitor) -> None:
    await alice.send("/searches", q="cache", name="Mine")

    again = await alice.send("/searches", q="queues", name="Mine")
    nameless = await alice.send("/searches", q="queues", name=" ")

    assert (again.status_code, nameless.status_code) == (422, 422)
    assert "You have another saved search with this name." in again.text
    assert "It needs a name" in nameless.text


async def test_more_results_come_as_rows(site: Site, alice: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("feedmill.serve.web.search.search_pages.ROWS", 3)
    [more] = (await alice.see("/search?q=is:unread&order=date")).xpath("//li[@class='more']/a/@hx-get")

    answer = await alice.client.get(more, headers={"HX-Request": "true"})

    assert answer.text.count('<li class="row') == 3
    assert "<html" not in answer.text


async def test_results_are_counted_on_the_first_page(alice: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(page: Any) -> list[str]:
        return [text_of(count) for count in page.xpath("//*[@class='count'][ancestor::search]")]

    monkeypatch.setattr("feedmill.serve.web.search.search_pages.COUNT_WITHIN", 60)
    assert told(await alice.see("/search?q=cache")) == ["1 result"]
    assert told(await alice.see("/search?q=is:unread")) == ["8 results"]
    assert told(await alice.see("/search?q=zeppelin")) == []
    monkeypatch.setattr("feedmill.serve.web.search.search_pages.ROWS", 3)
    assert told(await alice.see("/search?q=is:unread")) == ["8 results"]
    monkeypatch.setattr("feedmill.serve.web.search.search_pages.count_results", AsyncMock(return_value=10_001))
    assert told(await alice.see("/search?q=is:unread")) == ["more than 10,000 results"]
    monkeypatch.setattr("feedmill.serve.web.search.search_pages.count_results", AsyncMock(return_value=None))
    assert told(await alice.see("/search?q=is:unread")) == ["more than 3 results"]
    [more] = (await alice.see("/search?q=is:unread&order=date")).xpath("//li[@class='more']/a/@href")
    assert told(await alice.see(more)) == []


async def test_a_search_over_a_list_gets_the_results_alone(alice: Visitor) -> None:
    asked = {"HX-Request": "true"}
    found = await alice.client.get("/search?q=cache", headers=asked)
    nothing = await alice.client.get("/search?q=clever+cache+is:starred", headers=asked)
    mistake = await alice.client.get("/search?q=%22open", headers=asked)

    assert "<html" not in found.text + nothing.text + mistake.text
    assert titles(html.fromstring(found.text)) == ["Against the clever cache"]
    assert "1 result" in found.text
    assert "No results for" in nothing.text
    assert (mistake.status_code, "This quotation mark is not closed." in mistake.text) == (422, True)
    for answer in (found, nothing, mistake):
        assert len(html.fromstring(f"<div>{answer.text}</div>").xpath("//ol[@class='rows']")) == 1


async def test_other_users_cannot_use_or_delete_a_saved_search(alice: Visitor, charlie: Visitor) -> None:
    await alice.send("/searches", q="cache", name="Caches")

    assert titles(await charlie.see("/search?q=is:unread")) == []
    assert (await charlie.client.get("/search?q=x&in=/feed/1")).status_code == 404
    assert (await charlie.client.get("/search?q=x&in=/label/9007199254740993")).status_code == 404
    assert (await charlie.send("/searches/1/delete")).status_code == 404
    assert (await alice.see("/search")).xpath("//nav//a[contains(., 'Caches')]") != []
