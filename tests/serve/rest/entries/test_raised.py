"""Entries that filters raised, over the API."""

import pytest

from feedmill.api_schemas.entries import EntryPage
from feedmill.library.filters.filter_jobs import apply_backwards
from feedmill.library.filters.manage_filters import create_filter
from feedmill.library.filters.work_on_jobs import FilterJobWorker
from feedmill.model.filters.entry_filter import FilterActions, FilterDraft
from feedmill.model.user import Caller
from tests.library.small_library import NOW, SmallLibrary
from tests.serve.rest.site import Person, Site


@pytest.fixture
async def raised(site: Site, alice: Person) -> dict[str, int]:
    """The ids of four entries by title; a filter of Alice's raised two of them."""
    library = SmallLibrary(site.app.db)
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    titles = ["barley", "kiln one", "kiln two", "oats"]
    ids = await library.arrive(feed, *titles)
    draft = FilterDraft("Kilns", "in:title kiln", actions=FilterActions(raise_to_top=True))
    made = await create_filter(site.app.db, Caller(alice.user, alice.user.scopes), draft, NOW)
    await apply_backwards(site.app.db, alice.user.id, made.id, NOW)
    worker = FilterJobWorker(site.app.db, site.app.settings.later_for)
    while await worker.work():
        pass
    return dict(zip(titles, ids, strict=True))


def _titles(page: dict[str, list[dict[str, str]]]) -> list[str]:
    return [item["title"] for item in page["items"]]


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
async def test_raised_entries_come_first_if_the_query_says_so(
    raised: dict[str, int], alice: Person, limit: int
) -> None:
    usual = (await alice.get("/entries")).json()
    first = page = (await alice.get(f"/entries?raised=first&limit={limit}")).json()
    walked = _titles(page)
    while page["next"]:
        page = (await alice.get(f"/entries?raised=first&limit={limit}&cursor={page['next']}")).json()
        assert len(page["items"]) <= limit
        walked += _titles(page)

    assert _titles(usual) == ["oats", "kiln two", "kiln one", "barley"]
    assert walked == (
        ["kiln two", "oats", "kiln one", "barley"] if limit == 1 else ["kiln two", "kiln one", "oats", "barley"]
    )
    assert (usual["raised_count"], first["raised_count"]) == (0, min(limit, 2))
    EntryPage.model_validate(first)


async def test_entries_say_whether_they_are_raised(raised: dict[str, int], alice: Person) -> None:
    listed = (await alice.get("/entries")).json()["items"]
    article = (await alice.get(f"/entries/{raised['kiln one']}?raised=first")).json()

    assert [item["raised"] for item in listed] == [False, True, True, False]
    assert (article["raised"], article["previous_id"], article["next_id"]) == (
        True,
        raised["kiln two"],
        raised["oats"],
    )


async def test_raised_entries_are_a_list_of_their_own(raised: dict[str, int], alice: Person, charlie: Person) -> None:
    first = (await alice.get("/entries?raised=only&limit=1")).json()
    second = (await alice.get(f"/entries?raised=only&limit=1&cursor={first['next']}")).json()
    await alice.patch(f"/entries/{raised['kiln two']}", {"read": True})

    assert (_titles(first), _titles(second), second["next"]) == (["kiln two"], ["kiln one"], None)
    assert _titles((await alice.get("/entries?raised=only")).json()) == ["kiln one"]
    assert _titles((await charlie.get("/entries?raised=only")).json()) == []


async def test_other_values_are_refused(alice: Person) -> None:
    assert (await alice.get("/entries?raised=last")).status_code == 422
    assert (await alice.get("/entries?since=&raised=first")).status_code == 422
