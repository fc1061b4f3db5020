"""Whatever a service answers is read without an error."""

import pytest

from feedmill.library.services.service_answers import read_access_token, read_refusal
from feedmill.model.services.save_service import ServiceKind

ODD = {
    "nothing": b"",
    "no JSON": b"\xff\xfe<html>",
    "null": b"null",
    "deep objects": b'{"x":' * 100_000,
    "deep lists": b'{"errors":[{"a":' + b"[" * 100_000,
    "half a character": b'{"result": false, "errorMessage": "\\ud800"}',
}


@pytest.mark.parametrize("kind", [ServiceKind.RAINDROP, ServiceKind.OMNIVORE])
@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
def test_an_odd_answer_is_a_refusal(kind: ServiceKind, body: bytes) -> None:
    assert read_refusal(kind, body)


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
def test_an_odd_answer_has_no_token(body: bytes) -> None:
    assert read_access_token(body) == ""


def test_what_raindrop_and_omnivore_say_is_read() -> None:
    assert read_refusal(ServiceKind.RAINDROP, b'{"result": true}') is None
    assert read_refusal(ServiceKind.RAINDROP, b'{"result": false, "errorMessage": "Full"}') == "Full"
    assert read_refusal(ServiceKind.OMNIVORE, b'{"data": {"saveUrl": {"url": "u"}}}') is None
    assert read_refusal(ServiceKind.OMNIVORE, b'{"data": {"saveUrl": {"errorCodes": ["BAD_URL"]}}}') == "BAD_URL"
