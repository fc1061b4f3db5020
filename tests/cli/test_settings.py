"""`feedmill settings`: the settings in force, without secrets."""

import json
from pathlib import Path

from feedmill.settings import Settings
from tests.cli.command import feedmill

SECRETS = {
    "database": "postgresql://alice:hunter1@host/name",
    "database_token": "hunter2",
    "s3_secret_key": "hunter3",
    "redis": "redis://:hunter4@host",
}


def test_every_setting_is_printed_with_its_description_and_variable(tmp_path: Path) -> None:
    printed = feedmill("--set", "port=9000", "settings", cwd=tmp_path).stdout

    assert "port = 9000\n" in printed
    for name, field in Settings.fields.items():
        assert f"FEEDMILL_{name.upper()}: {field.description}" in printed


def test_secrets_are_hidden(tmp_path: Path) -> None:
    done = feedmill("settings", "--json", cwd=tmp_path, settings=SECRETS)

    values = json.loads(done.stdout)
    assert "hunter" not in done.stdout + done.stderr
    assert (values["database"], values["database_token"]) == ("postgresql://alice:***@host/name", "***")


def test_a_commands_own_option_wins_over_the_same_setting(tmp_path: Path) -> None:
    (tmp_path / "feedmill.toml").write_text('data = "from-file"')

    values = json.loads(feedmill("--data", "typed", "settings", "--json", cwd=tmp_path).stdout)

    assert values["data"] == "typed"
