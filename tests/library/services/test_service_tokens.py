"""Access tokens of services are kept for a while, and not without end."""

from datetime import UTC, datetime, timedelta

from feedmill.library.services.service_tokens import TOKEN_LIFETIME, ServiceTokens

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


def test_a_token_is_used_until_it_expires_or_is_refused() -> None:
    tokens = ServiceTokens()
    tokens.put("a", "token of a", NOW)
    tokens.put("b", "token of b", NOW)

    tokens.forget("b")

    assert tokens.get("a", NOW + TOKEN_LIFETIME - timedelta(seconds=1)) == "token of a"
    assert tokens.get("a", NOW + TOKEN_LIFETIME) is None
    assert tokens.get("b", NOW) is None


def test_tokens_that_have_expired_are_not_kept() -> None:
    tokens = ServiceTokens()
    for number in range(10):
        tokens.put(f"service {number}", "token", NOW + timedelta(seconds=number))

    tokens.put("another", "token", NOW + TOKEN_LIFETIME + timedelta(seconds=8))

    assert len(tokens) == 2


def test_the_number_of_tokens_is_limited() -> None:
    tokens = ServiceTokens(most=2)

    for key in "abca":
        tokens.put(key, "token", NOW)

    assert [tokens.get(key, NOW) for key in "abc"] == ["token", None, "token"]
