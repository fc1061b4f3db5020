"""The settings of a subscription, over `/api/feeds`."""

from typing import Any

import pytest

from tests.serve.rest.sample_feeds import feed_of, subscribed
from tests.serve.rest.site import Person, Site

DEFAULTS: dict[str, Any] = {
    "retention_days": None,
    "full_text": False,
    "keep_selector": "",
    "drop_selector": "",
    "block_rules": "",
    "keep_rules": "",
    "label_ids": [],
    "notify": True,
}


async def test_a_given_field_changes_and_null_resets_it(site: Site, alice: Person) -> None:
    feed = await subscribed(alice, site)
    label = (await alice.post("/labels", {"name": "work"})).json()["id"]
    wanted = {"retention_days": 30, "full_text": True, "keep_selector": ".post", "label_ids": [label], "notify": False}

    before = await alice.get(f"/feeds/{feed['id']}")
    changed = await alice.patch(f"/feeds/{feed['id']}", {"settings": wanted})
    more = await alice.patch(f"/feeds/{feed['id']}", {"settings": {"block_rules": "ads\nin:title:sponsored"}})
    back = await alice.patch(f"/feeds/{feed['id']}", {"settings": dict.fromkeys(DEFAULTS)})

    assert before.json()["settings"] == DEFAULTS
    assert changed.json()["settings"] == DEFAULTS | wanted
    assert more.json()["settings"] == DEFAULTS | wanted | {"block_rules": "ads\nin:title:sponsored"}
    assert back.json()["settings"] == DEFAULTS
    assert (await alice.get(f"/feeds/{feed['id']}")).json() == back.json()


async def test_a_feed_is_added_with_its_rules(site: Site, alice: Person) -> None:
    feed = await subscribed(alice, site, "/feed", "ads", "news", settings={"block_rules": "ads"})

    unread = (await alice.get("/entries?view=unread")).json()["items"]
    every = (await alice.get("/entries?view=all")).json()["items"]

    assert feed["unread_count"] == 1
    assert [entry["title"] for entry in unread] == ["news"]
    assert sorted(entry["title"] for entry in every) == ["ads", "news"]


async def test_a_preview_changes_nothing(site: Site, alice: Person) -> None:
    feed = await subscribed(alice, site, "/feed", "ads", "news")

    shown = (await alice.post(f"/feeds/{feed['id']}/rules/preview", {"keep_rules": "news"})).json()

    blocked = {item["title"]: (item["is_blocked"], item["rule"]) for item in shown["items"]}
    assert (blocked, shown["blocked"]) == ({"ads": (True, None), "news": (False, "news")}, 1)
    assert (await alice.get(f"/feeds/{feed['id']}")).json()["settings"] == DEFAULTS


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"block_rules": "is:unread"}, "bad_rule"),
        ({"keep_rules": "fine\n("}, "bad_rule"),
        ({"keep_selector": "p:hover"}, "bad_selector"),
    ],
)
async def test_an_invalid_setting_changes_nothing(
    site: Site, alice: Person, settings: dict[str, Any], code: str
) -> None:
    feed = await subscribed(alice, site)

    refused = await alice.patch(f"/feeds/{feed['id']}", {"settings": settings, "http_options": {"cookie": "x"}})

    assert (refused.status_code, refused.json()["code"]) == (422, code)
    assert (await alice.get(f"/feeds/{feed['id']}")).json()["is_private"] is False


async def test_an_invalid_rule_is_reported_with_its_line(site: Site, alice: Person) -> None:
    url = site.web.serve("/feed", feed_of("a"))

    refused = await alice.post("/feeds", {"url": url, "settings": {"keep_rules": "fine\n("}})

    assert (refused.status_code, refused.json()["line"]) == (422, 2)
    assert (await alice.get("/feeds")).json()["items"] == []
