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
