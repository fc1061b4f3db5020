"""Administration pages requested by other users, without a token, and with invalid values."""

import re
from typing import Any

import httpx
import pytest
from starlette.routing import Route

from feedmill.serve.web.routes import ROUTES
from tests.serve.rest.database_content import everything
from tests.serve.rest.site import Site
from tests.serve.web.valid_forms import FORMS, filled
from tests.serve.web.visitor import Visitor

ADMIN = [
    (method, route.path)
    for route in ROUTES
    if isinstance(route, Route) and route.path.startswith("/admin")
    for method in sorted((route.methods or set()) - {"HEAD"})
]
CHANGING = [path for method, path in ADMIN if method == "POST"]
NUMBERED = [(method, path) for method, path in ADMIN if "{id:int}" in path]
ODD = (
    "a\0b",
    "\u202eexample.org",
    "x" * 5000,
    "-1",
    str(2**63),
    "9" * 4000,
    "٣",
    "http://a:b@[::1",
    "%00",
    "<b>&amp;",
    "",
)
FIELDS = ("into", "host", "do", "name", "password", "role", "feed", "text", "level", "url")


def _fill(path: str, id: int = 1) -> str:
    path = path.replace("{host}", "example.org").replace("{what}", "images")
    return re.sub(r"\{\w+:int\}", str(id), path)


async def _ask(client: httpx.AsyncClient, method: str, path: str, fields: dict[str, Any]) -> httpx.Response:
    return await (client.get(path, params=fields) if method == "GET" else client.post(path, data=fields))


async def test_administration_is_closed_to_other_users(site: Site, charlie: Visitor) -> None:
    csrf, before = charlie.csrf(), everything(site)

    answers = {path: await _ask(charlie.client, method, _fill(path), {"csrf": csrf}) for method, path in ADMIN}

    assert {path: answer.status_code for path, answer in answers.items() if answer.status_code != 403} == {}
    assert everything(site) == before


async def test_administration_is_closed_to_visitors(site: Site, alice: Visitor, nobody: httpx.AsyncClient) -> None:
    before = everything(site)

    answers = {path: await _ask(nobody, method, _fill(path), {"csrf": "x"}) for method, path in ADMIN}

    assert {
        path: answer.status_code for path, answer in answers.items() if answer.status_code not in (303, 401, 403)
    } == {}
    assert everything(site) == before


@pytest.mark.parametrize("fields", [{}, {"csrf": ""}, {"csrf": "a" * 43}])
async def test_a_form_without_its_token_changes_nothing(site: Site, alice: Visitor, fields: dict[str, str]) -> None:
    before = everything(site)

    answers = {path: await alice.client.post(_fill(path), data=fields) for path in CHANGING}

    assert {path: answer.status_code for path, answer in answers.items() if answer.status_code != 403} == {}
    assert everything(site) == before


@pytest.mark.parametrize("id", [0, 2**53, 2**63, 10**400])
async def test_an_unknown_id_is_not_found(alice: Visitor, id: int) -> None:
    csrf = alice.csrf()

    answers = {}
    for method, path in NUMBERED:
        form = filled(FORMS[path], {"other_feed": 1}) if method == "POST" else {}
        answers[path] = await _ask(alice.client, method, _fill(path, id), {"csrf": csrf} | form)

    assert {path: answer.status_code for path, answer in answers.items() if answer.status_code != 404} == {}


@pytest.mark.parametrize(("number", "odd"), list(enumerate(ODD)))
async def test_unusual_words_cause_no_error(alice: Visitor, number: int, odd: str, is_check: bool) -> None:
    csrf = alice.csrf()

    fields = dict.fromkeys(FIELDS, odd) | {"csrf": csrf}
    # `make check` sends each to a third of the routes.
    routes = ADMIN[number % 3 :: 3] if is_check else ADMIN
    answers = {path: await _ask(alice.client, method, _fill(path), fields) for method, path in routes}

    assert {path: answer.status_code for path, answer in answers.items() if answer.status_code >= 500} == {}
