"""No request to the APIs of reader apps fails on our side, whatever it sends."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from feedmill.library.users.app_passwords import fever_key
from feedmill.serve import fever, greader
from tests.serve.app_client import AppUser
from tests.serve.app_requests import (
    Belongings,
    Fields,
    greader_requests,
    miniflux_bodies,
    miniflux_requests,
    prepare_belongings,
)
from tests.serve.rest.site import Site

ODD = (
    "",
    "0",
    "-1",
    "9" * 40,
    "1e9",
    "feed/",
    "feed/x",
    "user/-/label/",
    "user/-/label//",
    "user//label/x",
    "[]",
    "\x7f",
    "\0",
    "ÿ",
    "𐍈" * 50,
    "%ff",
)
ODD_JSON: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**63,
    1.5,
    "",
    "\0",
    "\ud800",
    "x" * 5000,
    "/",
    [],
    [None],
    {},
    [[1]],
    {"a": {}},
)
GREADER_NAMES = ("s", "n", "xt", "it", "ot", "nt", "r", "c", "i", "a", "T", "ts", "dest", "ac", "t", "quickadd")
FEVER_NAMES = ("since_id", "max_id", "with_ids", "feed_ids", "group_ids", "mark", "as", "id", "before", "api_key")
MINIFLUX_NAMES = (
    *("status", "offset", "limit", "order", "direction", "starred", "search", "category_id", "feed_id", "tags"),
    *("before", "after", "published_before", "published_after", "changed_before", "changed_after"),
    *("before_entry_id", "after_entry_id", "globally_visible", "counts", "update_content"),
)
BODIES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"{}",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"entry_ids": [9007199254740993], "status": "read"}',
)


@pytest.fixture
async def hers(site: Site, alice: AppUser) -> Belongings:
    return await prepare_belongings(site, alice)


@pytest.fixture
def odd_values(is_check: bool) -> tuple[str, ...]:
    """Odd texts; fewer in `make check`."""
    return ODD[::4] if is_check else ODD


async def test_no_form_of_a_google_reader_app_is_a_server_error(hers: Belongings, odd_values: tuple[str, ...]) -> None:
    """All odd values at once, and each alone: of most parameters only the first is read."""
    failed = []
    for route, request in greader_requests(hers).items():
        own = dict(request.fields).keys() | {"n", "c"}
        spoiled = [[*((name, odd) for odd in ODD), *request.fields] for name in GREADER_NAMES]
        spoiled += [[(name, odd), *_without(name, request.fields)] for name in own for odd in odd_values]
        for fields in spoiled:
            answer = await replace(request, fields=fields, content=b"").send(hers.alice, hers.app.headers)
            failed += [(route, fields[0], answer.status_code)] if answer.status_code >= 500 else []

    assert failed == []


def _without(name: str, fields: Fields) -> Fields:
    return [(each, value) for each, value in fields if each != name]


@pytest.mark.parametrize("prefix", greader.PREFIXES)
async def test_no_sign_in_is_a_server_error(alice: AppUser, prefix: str) -> None:
    sent = [{name: value, "Passwd": alice.password} for name in ("Email", "Passwd", "output") for value in ODD]

    statuses = {(await alice.client.post(f"{prefix}/accounts/ClientLogin", data=form)).status_code for form in sent}

    assert statuses <= {400, 401, 429}


async def test_every_fever_request_is_answered_with_200(alice: AppUser) -> None:
    key = fever_key("alice", alice.password)
    asked = [f"api&items&{name}={quote(value)}" for name in FEVER_NAMES for value in ODD]
    asked += [f"api&mark={kind}&as={state}&id={quote(value)}" for kind, state, value in _marks()]

    statuses = {
        (await alice.client.post(f"{fever.PATHS[0]}?{query}", data={"api_key": key})).status_code for query in asked
    }

    assert statuses == {200}


async def test_no_request_of_a_miniflux_app_is_a_server_error(hers: Belongings, odd_values: tuple[str, ...]) -> None:
    headers = {"X-Auth-Token": hers.alice.password}
    failed = []
    for (method, route), request in miniflux_requests(hers).items():
        far = "/v1" + re.sub(r"\{[^}]*\}", str(2**62), route)
        sent = [(request.path, body) for body in BODIES] + [(far, json.dumps(request.json or {}).encode())]
        if method == "GET":
            sent += [(f"{request.path}?{urlencode(dict.fromkeys(MINIFLUX_NAMES, odd))}", b"") for odd in odd_values]
        for path, body in sent:
            answer = await hers.alice.client.request(method, path, content=body, headers=headers)
            failed += [(method, path, body[:50])] if answer.status_code >= 500 else []

    assert failed == []


async def test_no_parameter_of_a_list_of_miniflux_is_a_server_error(
    hers: Belongings, odd_values: tuple[str, ...]
) -> None:
    headers = {"X-Auth-Token": hers.alice.password}
    queries = [urlencode({name: odd}) for name in MINIFLUX_NAMES for odd in odd_values]

    failed = [
        query
        for query in queries
        if (await hers.alice.client.get(f"/v1/entries?{query}", headers=headers)).status_code >= 500
    ]

    assert failed == []


async def test_no_member_of_a_body_of_a_miniflux_app_is_a_server_error(hers: Belongings) -> None:
    headers = {"X-Auth-Token": hers.alice.password}
    failed = []
    requests = miniflux_requests(hers)
    for route, body in miniflux_bodies(hers).items():
        for spoiled in _spoiled(body) if isinstance(body, dict) else ():
            sent = json.dumps(spoiled).encode("utf-8", "surrogatepass")
            answer = await replace(requests[route], json=None, content=sent).send(hers.alice, headers)
            failed += [(route, sent[:100])] if answer.status_code >= 500 else []

    assert failed == []


def _spoiled(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The body with one member that is odd, or without it."""
    for name in body:
        yield from (body | {name: odd} for odd in ODD_JSON)
        yield {other: value for other, value in body.items() if other != name}


def _marks() -> Iterator[tuple[str, str, str]]:
    for kind in ("item", "feed", "group", "x"):
        for state in ("read", "saved", ""):
            yield from ((kind, state, value) for value in ODD[:6])
