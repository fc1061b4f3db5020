"""`/api/entries` and `/api/labels`."""

import pytest

from feedmill.api_schemas.entries import ArticleResponse, EntryPage, EntryResponse
from feedmill.collect.entries.changes import BELOW_ALL_DATES
from feedmill.library.entries.article import Article
from feedmill.library.entries.list_entries import EntryListPage, EntrySummary
from feedmill.model.timestamps import to_iso
from tests.library.small_library import DAY, NOW, SmallLibrary
from tests.serve.rest.site import Person, Site


@pytest.fixture
async def library(site: Site) -> SmallLibrary:
    return SmallLibrary(site.app.db)


@pytest.fixture
async def feed(library: SmallLibrary, alice: Person) -> int:
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    return feed


@pytest.mark.parametrize(
    ("sent", "described"), [(EntrySummary, EntryResponse), (EntryListPage, EntryPage), (Article, ArticleResponse)]
)
def test_responses_match_the_openapi_description(sent: type, described: type[EntryResponse]) -> None:
    assert list(sent.__struct_fields__) == list(described.model_fields)  # type: ignore[attr-defined]


async def test_pages_continue_without_gap_or_repeat(library: SmallLibrary, feed: int, alice: Person) -> None:
    await library.arrive(feed, *"abcde")

    first = (await alice.get("/entries?limit=3")).json()
    second = (await alice.get(f"/entries?limit=3&cursor={first['next']}")).json()

    assert [item["title"] for item in first["items"] + second["items"]] == list("edcba")
    assert second["next"] is None
    EntryPage.model_validate(first)


async def test_an_entry_has_the_fields_of_its_feed_in_lists_alone_and_in_texts(
    library: SmallLibrary, feed: int, alice: Person
) -> None:
    [entry] = await library.arrive(feed, "a", guid="urn:a", summary="In <b>short</b>")

    listed = (await alice.get("/entries")).json()["items"][0]
    article = (await alice.get(f"/entries/{entry}")).json()
    text = (await alice.get(f"/entries/texts?ids={entry}")).json()["items"][0]

    named = ("feed_id", "guid", "summary", "created_at")
    for shown in (listed, article, text):
        assert [shown[name] for name in named] == [feed, "urn:a", "In short", to_iso(NOW)]


async def test_an_entry_without_a_date_is_marked_as_undated(library: SmallLibrary, feed: int, alice: Person) -> None:
    [undated] = await library.arrive(feed, "undated", at=NOW, sort_at=BELOW_ALL_DATES, undated=True)
    await library.arrive(feed, "dated", at=NOW - 3000 * DAY)

    listed = (await alice.get("/entries")).json()["items"]
    article = (await alice.get(f"/entries/{undated}")).json()

    assert [(item["title"], item["undated"]) for item in listed] == [("dated", False), ("undated", True)]
    assert (article["undated"], article["published_at"]) == (True, to_iso(NOW))


async def test_an_unchanged_list_is_not_sent_again(library: SmallLibrary, feed: int, alice: Person) -> None:
    other = await library.feed("other")
    [entry] = await library.arrive(feed, "a")
    tag = (await alice.get("/entries")).headers["etag"]

    await library.arrive(other, "not hers")
    same = await alice.get("/entries", headers={"If-None-Match": tag})
    await alice.patch(f"/entries/{entry}", {"starred": True})
    changed = await alice.get("/entries", headers={"If-None-Match": tag})

    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    assert (changed.status_code, changed.json()["items"][0]["starred"]) == (200, True)


@pytest.mark.parametrize(
    "query", ["view=everything", "limit=0", "limit=201", "feed_id=0", "feed_id=1&folder_id=1", "order=up"]
)
async def test_an_invalid_query_is_refused(alice: Person, query: str) -> None:
    answer = await alice.get(f"/entries?{query}")

    assert answer.status_code == 422, answer.text


async def test_marking_an_entry_returns_its_new_state(library: SmallLibrary, feed: int, alice: Person) -> None:
    [entry] = await library.arrive(feed, "a")

    read = await alice.patch(f"/entries/{entry}", {"read": True, "later": True})
    unread = await alice.patch(f"/entries/{entry}", {"read": False, "later": False})

    assert (read.json()["unread"], read.json()["later"]) == (False, True)
    assert (unread.json()["unread"], unread.json()["later"]) == (True, False)


async def test_an_empty_change_changes_nothing(library: SmallLibrary, feed: int, alice: Person) -> None:
    [entry] = await library.arrive(feed, "a")

    answer = await alice.patch(f"/entries/{entry}", {})

    assert (answer.status_code, answer.json()["unread"]) == (200, True)


@pytest.mark.parametrize("later", ["2020-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "tomorrow"])
async def test_read_later_takes_a_time_in_the_future_only(
    library: SmallLibrary, feed: int, alice: Person, later: str
) -> None:
    [entry] = await library.arrive(feed, "a")

    answer = await alice.patch(f"/entries/{entry}", {"later": later})

    assert answer.status_code == 422, answer.text


async def test_many_entries_are_marked_at_once(library: SmallLibrary, feed: int, alice: Person) -> None:
    ids = await library.arrive(feed, "a", "b")
    label = (await alice.post("/labels", {"name": "red"})).json()["id"]

    done = await alice.post("/entries/mark", {"ids": [*ids, 10**9], "read": True, "add_labels": [label]})

    assert done.json() == {"ids": ids, "missing": [10**9]}
    labelled = (await alice.get(f"/entries?view=all&label_id={label}")).json()["items"]
    assert [(item["id"], item["unread"]) for item in labelled] == [(ids[1], False), (ids[0], False)]
    assert (await alice.get("/labels")).json()["items"] == [{"id": label, "name": "red", "entries": 2}]


async def test_mark_all_read_leaves_what_arrived_since_and_can_be_undone(
    library: SmallLibrary, feed: int, alice: Person, bob: Person
) -> None:
    await library.arrive(feed, "a", "b")
    seen = (await alice.get("/entries")).json()["as_of"]
    await library.arrive(feed, "c")

    swept = (await alice.post("/entries/mark-all", {"everything": True, "up_to": seen})).json()
    left = [item["title"] for item in (await alice.get("/entries")).json()["items"]]
    stolen = await bob.post("/entries/undo", {"undo": swept["undo"]})
    undone = await alice.post("/entries/undo", {"undo": swept["undo"]})
    after = [item["title"] for item in (await alice.get("/entries")).json()["items"]]

    assert (swept["marked"], left, stolen.status_code, undone.status_code) == (2, ["c"], 404, 204)
    assert sorted(after) == ["a", "b", "c"]


async def test_mark_all_read_with_an_age_marks_older_entries_only(
    library: SmallLibrary, feed: int, alice: Person
) -> None:
    await library.arrive(feed, "old")

    spared = (await alice.post("/entries/mark-all", {"everything": True, "older_than_days": 36500})).json()
    marked = (await alice.post("/entries/mark-all", {"everything": True, "older_than_days": 0})).json()

    assert (spared["marked"], marked["marked"]) == (0, 1)


async def test_an_article_names_the_previous_and_the_next_in_the_list(
    library: SmallLibrary, feed: int, alice: Person
) -> None:
    a, b, c = await library.arrive(feed, *"abc")

    article = (await alice.get(f"/entries/{b}?view=all")).json()

    assert (article["previous_id"], article["next_id"]) == (c, a)
    ArticleResponse.model_validate(article)


async def test_the_original_is_plain_text_that_no_browser_runs(library: SmallLibrary, feed: int, alice: Person) -> None:
    html = "<script>alert(1)</script>"
    [entry] = await library.arrive(feed, "a", content_html=html)

    answer = await alice.get(f"/entries/{entry}/original")

    assert (answer.text, answer.headers["content-type"]) == (html, "text/plain; charset=utf-8")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_two_labels_cannot_have_the_same_name(alice: Person, bob: Person) -> None:
    red, blue = [(await alice.post("/labels", {"name": name})).json() for name in ("red", "blue")]

    again = await alice.post("/labels", {"name": "red"})
    renamed = await alice.patch(f"/labels/{blue['id']}", {"name": "red"})
    of_bob = await bob.post("/labels", {"name": "red"})

    assert (again.status_code, renamed.status_code, of_bob.status_code) == (409, 409, 201)
    assert (await alice.delete(f"/labels/{red['id']}")).status_code == 204
    assert (await alice.patch(f"/labels/{blue['id']}", {"name": "red"})).json()["name"] == "red"
