"""Every form that changes something refuses invalid fields, and then changes nothing.

The routes come from the route table and their fields from what each declares, so a new one is tested as soon as it
exists. `tests/serve/web/valid_forms.py` has a valid form for each; here it is sent with one error at a time.
`make check` tries a sixth of the errors of a field, the next sixth with the next field.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import pytest
from sqlalchemy import select
from starlette.routing import Route

from feedmill.model.entry_marks import MarkAllRead
from feedmill.serve.web.core.form_fields import DECLARED_FORMS, FormField
from feedmill.serve.web.routes import ROUTES
from feedmill.store import schema
from feedmill.store.entries.mark_all_read import mark_unread_as_read
from tests.hostile.test_other_peoples_pages import Things, things
from tests.serve.rest.database_content import everything
from tests.serve.rest.site import Site
from tests.serve.web import valid_forms
from tests.serve.web.visitor import Visitor

__all__ = ["things"]

POSTED = {route.path: route for route in ROUTES if isinstance(route, Route) and "POST" in (route.methods or ())}
ODD = ("nonsense", "feed/300", "/nowhere", "", " ", "-1", "1.5", "9" * 30, "٣", "0x10", "true", "yes ", "1;2", "%00")
# Fields taken as text, because the page reports errors next to them.
WRONG_TEXTS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("/admin/users/{id:int}", "quota_feeds"): ("-1", "many", "1.5", "9" * 30),
    ("/admin/users/{id:int}", "quota_bytes"): ("-1", "many"),
    ("/admin/users/new", "name"): ("", "a b", "x" * 300),
    ("/admin/feeds/{id:int}", "url"): ("", "javascript:alert(1)"),
    ("/admin/feeds/{id:int}/merge", "into"): ("", "nonsense", "9" * 30),
    ("/pools/{id:int}", "since"): ("yesterday", "2026-13-01"),
    ("/pools/{id:int}", "min_length"): ("many", "-1"),
    ("/pools/{id:int}", "titles_size"): ("many", "0"),
    ("/pools/{id:int}", "titles_guarantee"): ("perhaps",),
    ("/feed/{id:int}/edit", "block_rules"): ('"', "is:unread"),
    ("/feed/{id:int}/edit", "keep_selector"): ("p:hover", ","),
    ("/feed/{id:int}/edit", "http_headers"): ("no colon",),
    ("/bookmarks", "url"): ("", "javascript:alert(1)"),
    ("/settings/services", "address"): ("", "javascript:alert(1)", "ftp://example.org/"),
    ("/settings/services", "token"): ("", "two words"),
    ("/settings/services/{id:int}", "address"): ("", "javascript:alert(1)"),
    ("/settings/notifications", "url"): ("", "javascript:alert(1)", "syslog://", "file:///etc/passwd"),
    ("/filters/new", "condition"): ("", '"', "is:unread"),
    ("/filters/{id:int}", "condition"): ("", '"', "label:private"),
    ("/filters/{id:int}", "name"): ("x" * 200,),
    ("/muted", "text"): ("", "…", "x" * 200),
    ("/settings/webhooks", "url"): ("", "javascript:alert(1)", "ftp://example.org/"),
    ("/settings/webhooks/{id:int}", "url"): ("", "javascript:alert(1)"),
    ("/folders", "name"): ("", " "),
    ("/labels", "name"): ("", " "),
    ("/keys/edit", "star"): ("no such key",),
    ("/settings/password", "again"): ("something else",),
}
# The action is in the URL: these forms have no fields.
ACTIONS = {
    "/settings/services/{id:int}/{action}": "retry",
    "/settings/notifications/{id:int}/{action}": "test",
    "/settings/webhooks/{id:int}/{action}": "test",
    "/pools/{id:int}/{action}": "pause",
    "/pools/{id:int}/{kind}/{action}": "requeue",
    "/admin/users/{id:int}/{action}": "enable",
    "/admin/feeds/{id:int}/{action}": "pause",
}


def test_every_form_declares_its_fields_and_is_tested() -> None:
    assert {path for path, route in POSTED.items() if route.endpoint not in DECLARED_FORMS} == set()
    assert set(POSTED) == set(valid_forms.FORMS)


async def test_a_malformed_form_is_refused_and_changes_nothing(
    site: Site, alice: Visitor, things: Things, is_check: bool
) -> None:
    values, csrf = await _values(site, alice, things), alice.csrf()
    before = everything(site)
    taken = []

    for path, route in POSTED.items():
        form = valid_forms.filled(valid_forms.FORMS[path], values) | {"csrf": csrf}
        for wrong, request in malformed_forms(path, form, DECLARED_FORMS[route.endpoint], 6 if is_check else 1):
            answer = await alice.client.post(_address(path, things), **request)
            taken += [] if 400 <= answer.status_code < 500 else [(path, wrong, answer.status_code)]
        assert everything(site) == before, path

    assert taken == []


async def test_each_form_is_accepted_when_it_is_valid(site: Site, alice: Visitor, things: Things) -> None:
    values = await _values(site, alice, things)
    refused = {}

    for path, fields in valid_forms.FORMS.items():
        answer = await alice.send(_address(path, things), **valid_forms.filled(fields, values))
        refused |= {path: answer.status_code} if answer.status_code >= 400 else {}

    # Registration is off here, the code for the second factor is not that of the moment, and the session named in the
    # form had ended when she signed in again. No filter did anything with the entry, and what was cancelled at once has
    # nothing to undo. There is no provider and no link.
    assert refused == {
        "/register": 403,
        "/settings/two-factor/set-up": 422,
        "/settings/sessions/{id:int}/end": 404,
        "/item/{id:int}/effects": 404,
        "/filter-jobs/{id:int}/undo": 409,
        "/settings/identities/{provider}/link": 404,
        "/sign-in-link/{token}": 404,
    }


@pytest.mark.parametrize(
    "view", ["feed/1", "/feed", "/feed/x", "/feeds", "", "unread", "/starred", "/later", "/history"]
)
async def test_an_invalid_value_marks_nothing_read(site: Site, alice: Visitor, view: str) -> None:
    before = everything(site)

    answer = await alice.send("/mark-all-read", view=view, age="")

    assert answer.status_code == 422
    assert everything(site) == before


def malformed_forms(
    path: str, form: dict[str, Any], declared: Mapping[str, FormField], step: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is wrong, and the request; of what may be wrong with a field every `step`th is tried."""
    yield "an unknown field", {"data": form | {"no_such_field": "1"}}
    yield "a field in the address", {"data": form, "params": {"view": "/all"}}
    for number, (name, field) in enumerate(declared.items()):
        yield from islice(_malformed_fields(path, form, name, field), number % step, None, step)


def _malformed_fields(
    path: str, form: dict[str, Any], name: str, field: FormField
) -> Iterator[tuple[str, dict[str, Any]]]:
    rest = {key: form[key] for key in form if key != name}
    if field.is_required:
        yield f"no {name}", {"data": rest}
    if not field.is_repeated:
        yield f"{name} twice", {"data": form | {name: [form.get(name, ""), form.get(name, "")]}}
    if not field.is_file:
        yield f"{name} as a file", {"data": rest, "files": {name: ("x.txt", b"1")}}
    for value in (*(odd for odd in ODD if not field.fits(odd)), *WRONG_TEXTS.get((path, name), ())):
        yield f"{name}={value}", {"data": form | {name: value}}


def _address(path: str, things: Things) -> str:
    path = path.replace("{action}", ACTIONS.get(path, "delete")).replace("{kind}", "titles").replace("{right}", "take")
    path = path.replace("{host}", "example.org").replace("{what}", "images")
    return things.fill(path) if "{id:int}" in path else re.sub(r"\{\w+:int\}", "1", path)


async def _values(site: Site, alice: Visitor, things: Things) -> dict[str, Any]:
    ids = things.ids
    [feed, other, *_] = await site.app.db.query(select(schema.feeds).order_by(schema.feeds.c.id))
    swept = await mark_unread_as_read(site.app.db, (await alice.user(site)).id, MarkAllRead(), datetime.now(UTC))
    return {
        "entry": ids["/item"],
        "feed": ids["/feed"],
        "folder": ids["/folder"],
        "label": ids["/label"],
        "url": site.web.url("/page"),
        "feed_url": feed["url"],
        "other_feed": other["id"],
        "undo": swept.undo,
        "body": things.others["body"],
        "filter": ids["/filters"],
        "pool": ids["/pools"],
    }
