"""Searching over HTTP."""

from dataclasses import fields

import pytest

from feedmill.api_schemas.entries import SearchResultPage
from feedmill.library.search.run_search import SearchResult
from tests.library.small_library import SmallLibrary
from tests.serve.rest.site import Person, Site


def test_responses_match_the_openapi_description() -> None:
    assert [field.name for field in fields(SearchResult)] == list(SearchResultPage.model_fields)


async def test_pages_of_a_search_link_to_each_other(site: Site, alice: Person) -> None:
    library = SmallLibrary(site.app.db)
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    await library.arrive(feed, *(f"gnus {number}" for number in range(5)))

    first = (await alice.get("/search", params={"q": "gnus", "order": "date", "limit": 3})).json()
    last = (
        await alice.get("/search", params={"q": "gnus", "order": "date", "limit": 3, "cursor": first["next"]})
    ).json()

    titles = [item["title"] for page in (first, last) for item in page["items"]]
    assert titles == [f"gnus {number}" for number in (4, 3, 2, 1, 0)]
    assert last["next"] is None


@pytest.mark.parametrize(("query", "position"), [('a "b', 2), ("a is:bored", 2), ("", 0)])
async def test_a_syntax_error_is_reported_with_its_position(alice: Person, query: str, position: int) -> None:
    refused = await alice.get("/search", params={"q": query})
    not_kept = await alice.post("/searches", {"name": "x", "query": query or " "})

    assert refused.status_code == not_kept.status_code == 422
    assert (refused.json()["code"], refused.json()["position"]) == ("bad_search", position)
    assert not_kept.json()["code"] == "bad_search"


async def test_a_search_is_saved_once_under_a_name(alice: Person) -> None:
    made = await alice.post("/searches", {"name": "chips", "query": "芯片"})
    again = await alice.post("/searches", {"name": "chips", "query": "x"})

    assert (made.status_code, made.json()["query"]) == (201, "芯片")
    assert (again.status_code, again.json()["code"]) == (409, "search_exists")
    assert [one["name"] for one in (await alice.get("/searches")).json()["items"]] == ["chips"]
