"""Filters over HTTP."""

import pytest

from tests.serve.rest.site import Person


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
