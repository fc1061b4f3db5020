"""Malformed forms are refused and cause no error."""

import json
from base64 import urlsafe_b64encode

import pytest

from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor

PART = b'--b\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n\\ud800\r\n--b--\r\n'


@pytest.mark.parametrize("charset", ["unicode_escape", "undefined", "punycode", "utf-7", '"utf-16"'])
async def test_a_form_in_an_unusual_encoding_is_refused(alice: Visitor, charset: str) -> None:
    kind = {"Content-Type": f"multipart/form-data; boundary=b; charset={charset}"}

    assert (await alice.client.post("/marks", content=PART, headers=kind)).status_code == 422


@pytest.mark.parametrize("charset", ["", ";charset=UTF-8", '; charset="utf-8"; x=y'])
async def test_a_form_in_utf_8_is_accepted(alice: Visitor, charset: str) -> None:
    kind = {"Content-Type": f"application/x-www-form-urlencoded{charset}"}
    body = f"csrf={alice.csrf()}&quiet=yes"

    assert (await alice.client.post("/marks", content=body, headers=kind)).status_code == 204


async def test_the_api_never_redirects_to_the_host_that_a_request_names(site: Site) -> None:
    program = await site.browser(Host="evil.example")

    answer = await program.get("/api/feeds/")

    assert (answer.status_code, answer.headers.get("location")) == (421, None)


@pytest.mark.parametrize(
    "said",
    [
        ["no.such_words", {}, None, "done"],
        ["list.marked_all", {"n": "many"}, None, "done"],
        ["list.undone", {"key": 1}],
    ],
)
async def test_a_message_that_is_not_ours_is_not_shown(alice: Visitor, said: list[object]) -> None:
    packed = urlsafe_b64encode(json.dumps(said).encode()).decode()
    alice.client.cookies.set("feedmill_flash", packed)

    assert (await alice.client.get("/unread")).status_code == 200
