"""The setting `oidc`."""

import json
from pathlib import Path
from typing import Any

import pytest

from feedmill.errors import BadSetting
from feedmill.settings import Settings, load_settings

HOME = {"issuer": "https://auth.example.org", "client_id": "feedmill"}


def with_oidc(value: Any) -> Settings:
    return load_settings(oidc=value)


def test_providers_are_read_from_tables_and_from_json() -> None:
    table = {"home": {**HOME, "allowed_groups": ["readers", "the family"], "sign_out": True}}

    [provider] = with_oidc(table).oidc

    assert (provider.id, provider.label, provider.sign_out) == ("home", "Home", True)
    assert provider.allowed_groups == ("readers", "the family")
    assert with_oidc(json.dumps(table)).oidc == (provider,)


def test_a_secret_comes_from_a_file_or_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text("from a file\n")
    monkeypatch.setenv("HOME_SECRET", "from a variable")
    given = {
        "file": {**HOME, "client_secret_file": str(tmp_path / "secret")},
        "variable": {**HOME, "client_secret_env": "HOME_SECRET"},
        "itself": {**HOME, "client_secret": "as it is"},
        "public": HOME,
    }

    secrets = [provider.client_secret.get_secret_value() for provider in with_oidc(given).oidc]

    assert secrets == ["from a file", "from a variable", "as it is", ""]


def test_no_secret_is_shown() -> None:
    settings = with_oidc({"home": {**HOME, "client_secret": "Zq8Xn4Lw"}})

    assert "Zq8Xn4Lw" not in f"{settings} {settings.oidc[0]} {settings.oidc[0]!r}"


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ("{", "JSON"),
        ("[" * 100_000, "JSON"),
        ({"Home": HOME}, "lower-case"),
        ({"a/b": HOME}, "lower-case"),
        ({"home": "https://auth.example.org"}, "table"),
        ({"home": {"issuer": "https://auth.example.org"}}, "client_id is missing"),
        ({"home": {**HOME, "secret": "x"}}, "no secret"),
        ({"home": {**HOME, "issuer": "auth.example.org"}}, "issuer"),
        ({"home": {**HOME, "issuer": "https://auth.example.org/?a=b"}}, "issuer"),
        ({"home": {**HOME, "scopes": ["profile"]}}, "openid"),
        ({"home": {**HOME, "scopes": 1}}, "scopes"),
        ({"home": {**HOME, "sign_out": "perhaps"}}, "sign_out"),
        ({"home": {**HOME, "client_secret": "Zq8Xn4Lw", "client_secret_env": "A"}}, "not both"),
        ({"home": {**HOME, "client_secret_file": "/no/such/file"}}, "can't be read"),
        ({"home": {**HOME, "client_secret_env": "NO_SUCH_VARIABLE"}}, "not set"),
    ],
)
def test_an_invalid_provider_is_reported_without_its_secret(given: Any, word: str) -> None:
    with pytest.raises(BadSetting, match=word) as error:
        with_oidc(given)

    assert "Zq8Xn4Lw" not in str(error.value)
