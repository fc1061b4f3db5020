"""The API's responses to a user who has reached a limit."""

import pytest

from feedmill.library.subscriptions.opml import OpmlFeed, write_opml
from feedmill.library.users.limits import MAX_COUNTS, CountedKind
from tests.serve.rest.cases import notifications, services
from tests.serve.rest.sample_feeds import feed_of, subscribed
from tests.serve.rest.site import Person, Site

MADE: dict[CountedKind, tuple[str, dict[str, object]]] = {
    "bookmarks": ("/bookmarks", {"url": "https://example.org/page"}),
    "filters": ("/filters", {"name": "Mills", "condition": "mill", "actions": {"star": True}}),
    "folders": ("/folders", {"name": "Mills"}),
    "labels": ("/labels", {"name": "mills"}),
    "notification_targets": ("/notifications", notifications.NEW),
    "saved_searches": ("/searches", {"name": "Mills", "query": "mill"}),
    "services": ("/services", services.NEW),
    "webhooks": ("/webhooks", {"url": "https://example.org/hook", "events": ["feed.failing"]}),
}


@pytest.mark.parametrize("kind", MAX_COUNTS)
async def test_more_than_the_allowed_number_is_refused(
    alice: Person, monkeypatch: pytest.MonkeyPatch, kind: CountedKind
) -> None:
    path, wish = MADE[kind]
    monkeypatch.setitem(MAX_COUNTS, kind, 0)

    refused = await alice.post(path, wish)

    assert (refused.status_code, refused.json()["code"]) == (429, "too_many")
    assert "at most 0" in refused.json()["detail"]
    assert (await alice.get(path)).json()["items"] == []


async def test_nothing_is_added_for_a_user_over_quota(site: Site, alice: Person, bob: Person) -> None:
    feed = await subscribed(bob, site, "/feed", "a")
    [entry] = (await bob.get("/entries")).json()["items"]
    await alice.patch(f"/admin/users/{bob.user.id}", {"quota_bytes": 1})
    other = site.web.serve("/other", feed_of("b"))

    answers = [
        await bob.post("/feeds", {"url": other}),
        await bob.post("/feeds/import", content=write_opml([OpmlFeed(other, "Other")], title="List")),
        await bob.post(f"/entries/{entry['id']}/full-text"),
        await bob.post("/bookmarks", {"url": "https://example.org/"}),
    ]

    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(429, "quota_bytes")] * 4
    assert answers[0].json()["quota_bytes"] == 1 < answers[0].json()["kept_bytes"]
    assert [each["id"] for each in (await bob.get("/feeds")).json()["items"]] == [feed["id"]]
