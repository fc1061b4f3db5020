"""Filters over HTTP."""

from datetime import UTC, datetime

import pytest

from feedmill.model.filters.entry_filter import FilterAction
from feedmill.store.filters.apply_to_stored import StoredMatches, steps_to_apply
from tests.serve.rest.cases.entries import entry_of
from tests.serve.rest.site import Person, Site


@pytest.mark.parametrize("enabled", [True, False])
async def test_a_filter_whose_label_is_gone_can_be_turned_on_and_off(alice: Person, enabled: bool) -> None:
    label = (await alice.post("/labels", {"name": "work"})).json()["id"]
    draft = {"name": "Rust", "condition": "rust", "actions": {"label_ids": [label], "star": True}}
    made = (await alice.post("/filters", draft)).json()["id"]
    await alice.delete(f"/labels/{label}")

    changed = await alice.patch(f"/filters/{made}", {"enabled": enabled})

    assert (changed.status_code, changed.json()["enabled"]) == (200, enabled)


async def test_a_filter_names_its_services_and_those_of_others_are_not_found(alice: Person, charlie: Person) -> None:
    options = {"address": "https://links.example", "token": "t0ken"}
    service = (await alice.post("/services", {"kind": "linkding", "name": "Links", "options": options})).json()["id"]
    draft = {"name": "Rust", "condition": "rust", "actions": {"service_ids": [service, service]}}

    made = await alice.post("/filters", draft)

    assert (made.status_code, made.json()["actions"]["service_ids"]) == (201, [service])
    assert (await charlie.post("/filters", draft)).status_code == 404


async def test_what_a_deleted_filter_did_is_taken_back_at_once_or_later(
    site: Site, alice: Person, charlie: Person
) -> None:
    draft = {"name": "Rust", "condition": "rust", "actions": {"star": True}}
    kept, reverted = [(await alice.post("/filters", draft)).json()["id"] for _ in range(2)]
    entry = await entry_of(site, alice)
    now = datetime.now(UTC)
    await site.app.db.batch(
        steps_to_apply(StoredMatches(kept, alice.user.id, [entry]), [(FilterAction.STAR, 0)], now, now)
    )

    await alice.delete(f"/filters/{kept}")
    jobs_of_the_first = (await alice.get("/filter-jobs")).json()["items"]
    await alice.delete(f"/filters/{reverted}?revert=true")
    [job] = (await alice.get("/filter-jobs")).json()["items"]

    assert jobs_of_the_first == []
    assert (job["kind"], job["filter_id"]) == ("revert", reverted)
    assert (await charlie.post(f"/filters/{kept}/revert")).status_code == 404
    assert (await alice.post(f"/filters/{kept}/revert")).json()["kind"] == "revert"
    assert (await alice.post(f"/filters/{reverted}/revert")).status_code == 404


async def test_a_filter_that_is_off_is_not_applied(alice: Person) -> None:
    draft = {"name": "Rust", "condition": "rust", "actions": {"star": True}, "enabled": False}
    made = (await alice.post("/filters", draft)).json()["id"]

    refused = await alice.post(f"/filters/{made}/apply")

    assert (refused.status_code, refused.json()["code"]) == (409, "filter_is_off")
