"""No request to the APIs of reader apps fails on our side, whatever it sends."""

import re
from collections.abc import Iterator
from urllib.parse import quote

from feedmill.library.users.app_passwords import fever_key
from feedmill.serve import fever, greader, miniflux
from tests.serve.app_client import AppUser, sign_in

ODD = (
    "",
    "0",
    "-1",
    "9" * 40,
    "1e9",
    "feed/",
    "feed/x",
    "user/-/label/",
    "user//label/x",
    "[]",
    "\x7f",
    "ÿ",
    "𐍈" * 50,
    "%ff",
)
GREADER_NAMES = ("s", "n", "xt", "it", "ot", "nt", "r", "c", "i", "a", "r", "T", "ts", "dest", "ac", "t", "quickadd")
FEVER_NAMES = ("since_id", "max_id", "with_ids", "feed_ids", "group_ids", "mark", "as", "id", "before", "api_key")
MINIFLUX_NAMES = ("status", "offset", "limit", "order", "direction", "starred", "search", "category_id", "feed_id")
BODIES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"entry_ids": [9007199254740993], "status": "read"}',
    b"\xff\xfe",
    b'{"title": "\\u0000"}',
)


async def test_no_form_of_a_google_reader_app_is_a_server_error(alice: AppUser) -> None:
    app = await sign_in(alice)
    failed = []
    paths = {
        route.path.replace("{stream:path}", "feed/1") for route in greader.routes if route.path.startswith("/reader")
    }
    for path in sorted(path for path in paths if "{" not in path):
        for name in GREADER_NAMES:
            body = "&".join(f"{name}={quote(value)}" for value in ODD)
            for sent in (body, f"{body}&s=feed/1&i=1000000000000001&ac=edit"):
                headers = app.headers | {"Content-Type": "application/x-www-form-urlencoded"}
                answers = [
                    await app.client.post(path, content=sent, headers=headers),
                    await app.client.get(f"{path}?{sent}", headers=app.headers),
                ]
                failed += [(path, name, answer.status_code) for answer in answers if answer.status_code >= 500]

    assert failed == []


async def test_every_fever_request_is_answered_with_200(alice: AppUser) -> None:
    key = fever_key("alice", alice.password)
    asked = [f"api&items&{name}={quote(value)}" for name in FEVER_NAMES for value in ODD]
    asked += [f"api&mark={kind}&as={state}&id={quote(value)}" for kind, state, value in _marks()]

    statuses = {
        (await alice.client.post(f"{fever.PATHS[0]}?{query}", data={"api_key": key})).status_code for query in asked
    }

    assert statuses == {200}


async def test_no_request_of_a_miniflux_app_is_a_server_error(alice: AppUser) -> None:
    headers = {"X-Auth-Token": alice.password}
    failed = []
    for path, handlers in miniflux.HANDLERS.items():
        for id in ("1", str(2**62)):
            url = "/v1" + re.sub(r"\{[^}]*\}", id, path)
            sent = [(method, url, body) for method in handlers for body in BODIES]
            queries = (
                [f"{name}={quote(value)}" for name in MINIFLUX_NAMES for value in ODD] if "entries" in path else []
            )
            sent += [("GET", f"{url}?{query}", b"") for query in queries if "GET" in handlers and id == "1"]
            for method, address, body in sent:
                answer = await alice.client.request(method, address, content=body, headers=headers)
                failed += [(method, address, body)] if answer.status_code >= 500 else []

    assert failed == []


def _marks() -> Iterator[tuple[str, str, str]]:
    for kind in ("item", "feed", "group", "x"):
        for state in ("read", "saved", ""):
            yield from ((kind, state, value) for value in ODD[:6])
