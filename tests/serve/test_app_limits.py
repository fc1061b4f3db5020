"""Every route of the APIs of reader apps reads a limited body and a limited number of ids."""

from dataclasses import replace

import pytest

from feedmill.library.users.app_passwords import fever_key
from feedmill.serve import fever, greader
from feedmill.serve.greader import edits, items
from feedmill.serve.greader import subscriptions as greader_subscriptions
from feedmill.serve.greader.item_ids import short_id
from feedmill.serve.http.app_parameters import MAX_FIELDS, MAX_FORM_BYTES, MAX_UNKNOWN_BYTES
from feedmill.serve.http.body_limits import MAX_JSON_BYTES
from feedmill.serve.miniflux import feeds as miniflux_feeds
from tests.serve.app_client import AppUser
from tests.serve.app_requests import (
    Belongings,
    greader_requests,
    miniflux_bodies,
    miniflux_requests,
    prepare_belongings,
)
from tests.serve.rest.site import Site

# Routes of Google Reader that read OPML, which may be longer than a form.
OPML = {f"{greader.API}/subscription/import"}


@pytest.fixture
async def hers(site: Site, alice: AppUser) -> Belongings:
    return await prepare_belongings(site, alice)


async def test_no_route_of_miniflux_reads_more_json_than_the_limit(hers: Belongings) -> None:
    headers = {"X-Auth-Token": hers.alice.password}
    requests = miniflux_requests(hers)
    reading = {route for route, body in miniflux_bodies(hers).items() if isinstance(body, dict)}
    # An account and a key are refused before the body is read.
    refused = {route for route in reading if route[1].startswith(("/users", "/api-keys"))}
    long = b'{"title": "' + b"x" * MAX_JSON_BYTES + b'"}'
    answers = {
        route: await replace(requests[route], json=None, content=long).send(hers.alice, headers) for route in reading
    }

    assert {route for route, answer in answers.items() if answer.status_code == 403} == refused
    assert {answers[route].status_code for route in reading - refused} == {400}
    assert {"1 MB" in answers[route].json()["error_message"] for route in reading - refused} == {True}


async def test_no_route_of_google_reader_reads_a_longer_form_than_the_limit(hers: Belongings) -> None:
    forms = {
        route: request
        for route, request in greader_requests(hers).items()
        if request.method == "POST" and route not in OPML
    }
    long = b"i=" + b"1" * MAX_FORM_BYTES
    many = b"&i=1" * MAX_FIELDS

    statuses = {
        (await replace(request, fields=[], content=body).send(hers.alice, hers.app.headers)).status_code: body[:4]
        for request in forms.values()
        for body in (long, many)
    }

    assert len(forms) > 5
    assert statuses == {413: long[:4], 400: many[:4]}


async def test_an_opml_file_that_is_too_long_is_refused(hers: Belongings, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (greader_subscriptions, miniflux_feeds):
        monkeypatch.setattr(module, "MAX_BYTES", 50)
    by_greader = greader_requests(hers)[f"{greader.API}/subscription/import"]
    by_miniflux = miniflux_requests(hers)["POST", "/import"]

    answers = [
        await by_greader.send(hers.alice, hers.app.headers),
        await by_miniflux.send(hers.alice, {"X-Auth-Token": hers.alice.password}),
    ]

    assert [answer.status_code for answer in answers] == [413, 400]


async def test_more_ids_than_the_limit_are_refused_and_change_nothing(
    hers: Belongings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edits, "MOST_IDS", 2)
    monkeypatch.setattr(items, "MOST_NAMED", 2)
    ids = "&".join([f"i={short_id(hers.entry_id)}"] * 3)

    answers = [
        await hers.app.post("/stream/items/contents", ids),
        await hers.app.post("/edit-tag", f"{ids}&a=user/-/state/com.google/read"),
    ]

    assert [answer.status_code for answer in answers] == [400, 400]
    assert (await hers.app.get("/unread-count")).json()["max"] == 1


async def test_fever_reads_a_short_form_and_fifty_items(hers: Belongings) -> None:
    key = fever_key("alice", hers.alice.password)
    path = fever.PATHS[0]

    long = await hers.alice.client.post(f"{path}?api&feeds", data={"x": "1" * MAX_UNKNOWN_BYTES, "api_key": key})
    ids = ",".join(["999"] * 50 + [str(hers.entry_id)])
    items_of_many = await hers.alice.client.post(f"{path}?api&items&with_ids={ids}", data={"api_key": key})

    assert long.json() == {"api_version": 3, "auth": 0}
    assert items_of_many.json()["items"] == []


@pytest.mark.parametrize("path", ["/v1/entries/{}", "/item/{}", "/api/feeds/{}/fetches"])
async def test_a_path_with_a_huge_number_is_refused(hers: Belongings, path: str) -> None:
    answer = await hers.alice.client.get(path.format("9" * 5000))

    assert answer.status_code == 404
