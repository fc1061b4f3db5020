"""Settings: which source wins, how a bad one is named, and that every one is explained."""

import os
from pathlib import Path

import pytest

from feedmill import data_folder
from feedmill.data_folder import is_checkout
from feedmill.errors import BadSetting
from feedmill.settings import PREFIX, Settings, load_settings

BAD = {
    "port": "words",
    "log_format": "loud",
    "log_level": "all",
    "host_gap": "-1",
    "fetches_at_once": "0",
    "max_feed_bytes": "1.5",
    "connect_seconds": "0",
    "read_seconds": "soon",
    "total_seconds": "-5",
    "allow_private": "10.0.0.0/99",
}


@pytest.fixture(autouse=True)
def _no_settings_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith(PREFIX):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_without_any_source_the_defaults_stand() -> None:
    assert load_settings().port == 8000


def test_the_command_line_wins_over_the_environment_over_the_file_over_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("feedmill.toml").write_text('port = 1\nlisten = "file"\nuser_agent = "file"\n')
    monkeypatch.setenv("FEEDMILL_PORT", "2")
    monkeypatch.setenv("FEEDMILL_LISTEN", "environment")

    settings = load_settings(port="3")

    assert (settings.port, settings.listen, settings.user_agent) == (3, "environment", "file")
    assert settings.log_level == "info"
    origins = [settings.origin(name) for name in ("port", "listen", "user_agent", "log_level")]
    assert origins == ["command line", "environment", "file", "default"]


def test_an_option_that_was_not_given_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEEDMILL_PORT", "2")

    assert load_settings(port=None).port == 2


def test_another_file_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("other.toml").write_text("port = 5")
    monkeypatch.setenv("FEEDMILL_CONFIG", "other.toml")

    assert load_settings().port == 5


def test_a_named_file_that_is_missing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEEDMILL_CONFIG", "/nowhere/feedmill.toml")

    with pytest.raises(BadSetting, match=r"/nowhere/feedmill.toml"):
        load_settings()


def test_a_named_file_that_can_not_be_looked_for_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEEDMILL_CONFIG", "long" * 1000)

    with pytest.raises(BadSetting, match="no such file"):
        load_settings()


@pytest.mark.parametrize("name", BAD)
def test_a_bad_value_names_the_setting_and_where_it_stands(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with pytest.raises(BadSetting, match=f"^{name}: "):
        load_settings(**{name: BAD[name]})

    Path("feedmill.toml").write_text(f'{name} = "{BAD[name]}"')
    with pytest.raises(BadSetting, match=rf"^{name} \(in feedmill.toml\): "):
        load_settings()

    monkeypatch.setenv(f"FEEDMILL_{name.upper()}", BAD[name])
    with pytest.raises(BadSetting, match=rf"^{name} \(FEEDMILL_{name.upper()}\): "):
        load_settings()


def test_every_bad_value_is_reported_at_once() -> None:
    with pytest.raises(BadSetting, match=r"port: .*; log_level: "):
        load_settings(port="words", log_level="all")


def test_an_unknown_setting_is_refused_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSetting, match=r"^colour is no setting"):
        load_settings(colour="red")

    Path("feedmill.toml").write_text('colour = "red"')
    with pytest.raises(BadSetting, match=r"^colour \(in feedmill.toml\) is no setting"):
        load_settings()

    monkeypatch.setenv("FEEDMILL_COLOUR", "red")
    with pytest.raises(BadSetting, match=r"^FEEDMILL_COLOUR is no setting"):
        load_settings()


def test_a_setting_that_is_nearly_one_is_reported_with_the_one_that_was_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEEDMILL_PROT", "8000")

    with pytest.raises(BadSetting, match=r"^FEEDMILL_PROT is no setting of Feedmill: did you mean port\?$"):
        load_settings()


@pytest.mark.parametrize("content", [b"port = = 1", b"[section\n", b"port = 1\nport = 2", b"port = \xff\xfe"])
def test_a_broken_file_is_reported_with_its_name(content: bytes) -> None:
    Path("feedmill.toml").write_bytes(content)

    with pytest.raises(BadSetting, match=r"^feedmill.toml: "):
        load_settings()


def test_a_bad_secret_is_not_shown() -> None:
    with pytest.raises(BadSetting) as caught:
        load_settings(database_token=["hunter2"], port="hunter2")

    assert "hunter2" not in str(caught.value)


def test_secrets_do_not_show_when_settings_are_printed() -> None:
    settings = load_settings(database_token="hunter2", s3_secret_key="hunter3", redis="redis://:hunter4@host")

    assert "hunter" not in repr(settings)


def test_networks_are_read_from_text_and_from_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("feedmill.toml").write_text('allow_private = ["10.0.0.0/8", "fd00::/8"]')
    from_file = load_settings().allow_private
    monkeypatch.setenv("FEEDMILL_ALLOW_PRIVATE", "10.0.0.0/8, fd00::/8")

    assert [str(network) for network in from_file] == ["10.0.0.0/8", "fd00::/8"]
    assert load_settings().allow_private == from_file


def test_every_setting_is_explained_in_one_sentence() -> None:
    sentences = {name: field.description or "" for name, field in Settings.fields.items()}

    assert {name: text for name, text in sentences.items() if not (text.endswith(".") and text[0].isupper())} == {}


WRITTEN_BADLY = {
    "port": ("70000", "it must be at least 1, at most 65535"),
    "fetches_at_once": ("words", "expected a whole number"),
    "host_gap": ("inf", "expected a number"),
    "total_seconds": ("nan", "expected a number"),
    "registration": ("perhaps", "expected true or false"),
    "log_level": ("all", "expected one of: debug, info, warning, error"),
    "user_agent": (5, "expected a text"),
    "allow_private": (5, "expected a list, or a text with commas"),
    "images_base_url": (
        "https://images.example.org/?a=b",
        "write it like https://images.example.org/feedmill, without a query",
    ),
}


@pytest.mark.parametrize("name", WRITTEN_BADLY)
def test_a_bad_value_is_reported_with_what_is_expected(name: str) -> None:
    value, expected = WRITTEN_BADLY[name]

    with pytest.raises(BadSetting) as caught:
        load_settings(**{name: value})

    assert str(caught.value) == f"{name}: {expected}"


@pytest.mark.parametrize("text", ["true", "1", "Yes", "on"])
def test_a_switch_is_read_as_people_write_it(text: str) -> None:
    assert load_settings(registration=text).registration is True


def test_the_root_of_a_copy_of_the_project_is_recognised(tmp_path: Path) -> None:
    installed = tmp_path / "lib" / "python3.11" / "site-packages" / "feedmill"
    installed.mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()

    assert is_checkout(Path(__file__).parents[1])
    assert not is_checkout(installed.parents[1])
    assert not is_checkout(tmp_path)


def test_in_a_copy_of_the_project_the_data_lies_in_the_current_folder() -> None:
    assert (load_settings().data, load_settings().origin("data")) == (Path("data"), "default")


@pytest.fixture
def user_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file of settings of a user who has installed Feedmill."""
    monkeypatch.setattr(data_folder, "_runs_from_checkout", lambda: False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "feedmill").mkdir(parents=True)
    return tmp_path / "config" / "feedmill" / "feedmill.toml"


@pytest.mark.parametrize(
    "line", ['data = "data"', 'data = "~/data"', 'database = "sqlite:///feeds.db"', 'objects = "o"', 'feeds_file = "f"']
)
def test_a_relative_path_in_the_file_of_the_user_is_refused(line: str, user_file: Path) -> None:
    user_file.write_text(line)

    with pytest.raises(BadSetting, match=rf"^{line.split()[0]} \(in {user_file}\): write the whole path"):
        load_settings()


def test_a_whole_path_in_the_file_of_the_user_and_a_relative_one_elsewhere_are_fine(user_file: Path) -> None:
    lines = ['data = "/srv/data"', 'objects = "s3://bucket"', 'database = "sqlite:///~/feeds.db"', "port = 9000"]
    user_file.write_text("\n".join(lines))
    of_user = load_settings()
    Path("feedmill.toml").write_text('data = "here"')

    assert (of_user.data, of_user.port) == (Path("/srv/data"), 9000)
    assert load_settings().data == Path("here")


@pytest.mark.parametrize("home", [None, "~/.config/feedmill"])
def test_a_user_without_a_home_needs_a_data_folder_only(home: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(*args: str, **options: object) -> Path:
        if home is None:
            raise RuntimeError("could not determine the home directory")
        return Path(home)

    monkeypatch.setattr(data_folder, "_runs_from_checkout", lambda: False)
    monkeypatch.setattr(data_folder, "import_by_name", lambda name: find)

    assert load_settings(data="/srv/data").data == Path("/srv/data")
    with pytest.raises(BadSetting, match="no home folder, so name a folder with --data or FEEDMILL_DATA"):
        load_settings()
