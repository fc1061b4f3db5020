"""Confirmation tokens: for one user, one tool, one target, once, and for five minutes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from feedmill.library.users.confirmations import (
    LIFETIME,
    BadConfirmation,
    ConfirmableAction,
    ConfirmationExpired,
    make_confirmation,
    use_confirmation_token,
)
from feedmill.model.user import User
from feedmill.store.schema import locks
from tests.serve.mcp.assistant import Assistant
from tests.serve.mcp.conftest import AssistedSite

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
KEY = "0123456789abcdef" * 2
ACTION = ConfirmableAction(1, "unsubscribe", "feed_id=1")


async def test_a_confirmed_feed_is_unsubscribed(assisted: AssistedSite, assistant: Assistant, alice: User) -> None:
    feed = await assisted.library.subscribe(alice, await assisted.library.feed("news"), "News")

    asked = await assistant.call("unsubscribe", feed_id=feed)
    done = await assistant.call("unsubscribe", feed_id=feed, confirmation=asked.facts["confirmation"])

    assert "News" in asked.untrusted
    assert (done.facts["done"], (await assistant.call("list_feeds")).facts["feeds"]) == (True, [])


async def test_a_confirmed_list_is_marked_up_to_what_was_there(
    assisted: AssistedSite, assistant: Assistant, alice: User
) -> None:
    feed = await assisted.library.subscribe(alice, await assisted.library.feed("news"))
    await assisted.library.arrive(1, "one", "two")

    asked = await assistant.call("mark_list_read", feed_id=feed)
    await assisted.library.arrive(1, "three")
    confirmed = {"feed_id": feed, "up_to": asked.facts["up_to"], "confirmation": asked.facts["confirmation"]}
    stretched = await assistant.call("mark_list_read", **confirmed | {"up_to": asked.facts["up_to"] + 1})
    done = await assistant.call("mark_list_read", **confirmed)

    assert "2 entries" in asked.facts["summary"]
    assert (stretched.error, done.facts["marked"]) == ("bad_confirmation", 2)
    assert (await assistant.call("list_feeds")).facts["unread"] == 1


async def test_a_token_of_one_feed_is_none_of_another(
    assisted: AssistedSite, assistant: Assistant, alice: User
) -> None:
    library = assisted.library
    [first, second] = [await library.subscribe(alice, await library.feed(name)) for name in ("a", "b")]
    token = (await assistant.call("unsubscribe", feed_id=first)).facts["confirmation"]

    other = await assistant.call("unsubscribe", feed_id=second, confirmation=token)

    assert (other.error, len((await assistant.call("list_feeds")).facts["feeds"])) == ("bad_confirmation", 2)


async def test_a_token_of_alice_is_none_of_bob(assisted: AssistedSite, assistant: Assistant, alice: User) -> None:
    bob = await assisted.user("bob")
    feed = await assisted.library.feed("a")
    for user in (alice, bob):
        await assisted.library.subscribe(user, feed)
    await assisted.library.arrive(feed, "one")
    asked = await assistant.call("mark_list_read", everything=True)
    confirmed = {"everything": True, "up_to": asked.facts["up_to"], "confirmation": asked.facts["confirmation"]}

    of_bob = await Assistant(assisted.url, "fm_bob").call("mark_list_read", **confirmed)
    of_alice = await assistant.call("mark_list_read", **confirmed)

    assert (of_bob.error, of_alice.facts["marked"]) == ("bad_confirmation", 1)


async def test_a_token_of_one_tool_is_none_of_another(assisted: AssistedSite) -> None:
    made = make_confirmation(KEY, ACTION, NOW)

    with pytest.raises(BadConfirmation):
        await use_confirmation_token(
            assisted.site.app.db, KEY, replace(ACTION, action="take_from_pool"), made.token, NOW
        )


async def test_a_token_works_once(assisted: AssistedSite, assistant: Assistant, alice: User) -> None:
    await assisted.library.subscribe(alice, await assisted.library.feed("a"))
    await assisted.library.arrive(1, "one")
    asked = await assistant.call("mark_list_read", everything=True)
    confirmed = {"everything": True, "up_to": asked.facts["up_to"], "confirmation": asked.facts["confirmation"]}

    await assistant.call("mark_list_read", **confirmed)
    await assistant.call("mark_entries", entry_ids=[1], read=False)
    again = await assistant.call("mark_list_read", **confirmed)

    assert again.error == "confirmation_used"
    assert (await assistant.call("list_feeds")).facts["unread"] == 1


async def test_a_token_expires_and_leaves_no_row(assisted: AssistedSite) -> None:
    db = assisted.site.app.db
    made = make_confirmation(KEY, ACTION, NOW)
    later = make_confirmation(KEY, ACTION, NOW + LIFETIME)

    await use_confirmation_token(db, KEY, ACTION, made.token, NOW + LIFETIME - timedelta(seconds=1))
    with pytest.raises(ConfirmationExpired):
        await use_confirmation_token(db, KEY, ACTION, made.token, NOW + LIFETIME)
    with pytest.raises(BadConfirmation):
        await use_confirmation_token(db, KEY[::-1], ACTION, later.token, NOW + LIFETIME)
    await use_confirmation_token(db, KEY, ACTION, later.token, NOW + LIFETIME)

    used = await db.query(select(locks.c.name).where(locks.c.name.like("confirmation:%")))
    assert len(used) == 1
