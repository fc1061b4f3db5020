"""A feed whose login can't be decrypted: our own failure, which affects that feed only."""

from typing import Any

import pytest

from feedmill.encryption import Encryption
from feedmill.engine.jobs import RefreshFeed
from feedmill.outbound.encrypted_options import encrypt_options, same_options
from tests.flows.refresh_environment import ENCRYPTION, SECRET_KEY, RefreshEnvironment, answer, encrypted, item
from tests.run.conftest import EmbeddedProcess

LOGIN = '{"basic_auth": ["alice", "secret"]}'
OTHER_KEY = Encryption(lambda: "b" * 40, lambda: "b" * 40)


async def test_the_feed_is_neither_requested_nor_blamed_and_the_others_continue(
    env: RefreshEnvironment, process: EmbeddedProcess, logged: list[Any]
) -> None:
    locked, other = await env.add("/locked", answer(item("a"))), await env.add("/open", answer(item("b")))
    login = encrypt_options(OTHER_KEY, LOGIN)
    assert login is not None
    await env.change(locked, http_options=login.value)

    stopped = await process.handlers(RefreshFeed(locked.id))
    others_wait = process.handlers.breaker.is_open(env.now)
    await process.handlers(RefreshFeed(other.id))

    assert stopped is not None
    assert (stopped.outcome, "secret_key" in str(stopped.message)) == ("failed", True)
    assert not others_wait
    after = await env.feed(locked)
    assert (after.consecutive_failures, after.last_error, after.last_fetched_at) == (0, None, None)
    assert after.next_fetch_at is not None
    assert env.web.seen("/locked") == []
    [line] = [one for one in logged if one.get("feed_id") == locked.id]
    assert ("secret_key" in line["reason"], line["exc_info"], SECRET_KEY in str(line)) == (True, None, False)
    assert await env.titles() == ["b"]


async def test_the_feed_is_fetched_once_the_key_is_available(env: RefreshEnvironment, process: EmbeddedProcess) -> None:
    locked = await env.add("/locked", answer(item("a")))
    await env.change(locked, http_options=encrypted(LOGIN).value)

    await process.handlers(RefreshFeed(locked.id))

    assert "authorization" in env.web.seen("/locked")[0].headers
    assert await env.titles() == ["a"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (None, None, True),
        (LOGIN, None, False),
        (None, LOGIN, False),
        (LOGIN, LOGIN, True),
        (LOGIN, LOGIN.replace("secret", "other"), False),
    ],
)
def test_two_feeds_are_compared_by_what_their_logins_decrypt_to(one: str, other: str, same: bool) -> None:
    first, second = encrypt_options(ENCRYPTION, one), encrypt_options(ENCRYPTION, other)

    assert same_options(ENCRYPTION, first, second) is same


def test_logins_that_cannot_be_decrypted_are_never_equal() -> None:
    login = encrypted(LOGIN)

    assert not same_options(OTHER_KEY, login, login)
