"""The settings as shown to an admin: where each comes from, and no secret."""

import pytest

from feedmill.library.admin.effective_settings import effective_settings
from feedmill.settings import Settings, load_settings

SECRETS = {
    "database": "postgresql://feedmill:hunter2@db/feedmill",
    "database_token": "hunter2",
    "s3_secret_key": "hunter2",
    "redis": "redis://:hunter2@redis:6379/0",
    "metrics_token": "hunter2",
}


def test_every_setting_is_listed_with_its_value_origin_and_description() -> None:
    found = {one.name: one for one in effective_settings(load_settings(port="9000"))}

    assert list(found) == list(Settings.fields)
    assert (found["port"].value, found["port"].origin) == (9000, "command line")
    assert (found["listen"].value, found["listen"].origin) == ("127.0.0.1", "default")
    assert all(one.description for one in found.values())


@pytest.mark.parametrize("name", SECRETS)
def test_no_secret_is_shown(name: str) -> None:
    found = {one.name: str(one.value) for one in effective_settings(load_settings(**{name: SECRETS[name]}))}

    assert "***" in found[name]
    assert "hunter2" not in str(found)


def test_a_secret_that_is_not_set_is_empty() -> None:
    assert {one.name: one.value for one in effective_settings(load_settings())}["redis"] == ""
