"""Every setting, declared once: its type, its default and one sentence on what it is for.

The command line goes before the environment (`FEEDMILL_…`), that before the file, that before the default.
"""

import os
from collections.abc import Mapping
from datetime import timedelta
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from feedmill.errors import BadSetting

PREFIX = "FEEDMILL_"
FILE_NAME = "feedmill.toml"

Network = IPv4Network | IPv6Network


def _networks(value: object) -> object:
    if isinstance(value, str):
        value = [part for part in value.replace(",", " ").split() if part]
    return [ip_network(str(part), strict=False) for part in value] if isinstance(value, list | tuple) else value


Networks = Annotated[tuple[Network, ...], NoDecode, BeforeValidator(_networks)]

LEAST_KEY = 32
# Words of keys that stand in examples, with which anybody could sign.
EXAMPLES = ("changeme", "change-me", "change_me", "change me", "your-secret", "your_secret", "example", "insecure")


def _no_example(key: SecretStr) -> SecretStr:
    text = key.get_secret_value()
    if text and len(text) < LEAST_KEY:
        raise ValueError(f"a key has at least {LEAST_KEY} characters")
    if text and (len(set(text)) < 8 or any(word in text.lower() for word in EXAMPLES)):
        raise ValueError("this one can be guessed; 'openssl rand -hex 32' makes a good one")
    return key


SigningKey = Annotated[SecretStr, AfterValidator(_no_example)]


Origin = Literal["command line", "environment", "file", "default"]


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True, hide_input_in_errors=True)
    _origins: dict[str, Origin] = PrivateAttr(default_factory=dict)

    data: Path = Field(Path("data"), description="The folder for the database, kept objects and the signing key.")
    database: str = Field(
        "", description="Where rows are kept: empty for SQLite in the data folder, or a sqlite:///, postgresql://, "
        "mysql:// or d1+https:// URL."
    )  # fmt: skip
    database_token: SecretStr = Field(SecretStr(""), description="The Bearer token of the D1 proxy worker.")
    d1_statements: int = Field(
        1000, ge=10, le=1000, description="How many statements D1 takes in one batch: 50 on Cloudflare's free plan."
    )
    objects: str = Field(
        "", description="Where images and raw bodies are kept: empty for a folder in the data folder, a path, or "
        "s3://bucket/prefix?endpoint=…&region=…."
    )  # fmt: skip
    s3_access_key: str = Field("", description="The access key of the S3 store.")
    s3_secret_key: SecretStr = Field(SecretStr(""), description="The secret key of the S3 store.")
    redis: SecretStr = Field(
        SecretStr(""), description="The redis:// URL of Redis; empty to coordinate in this process only."
    )
    listen: str = Field("127.0.0.1", description="The address that the web server listens on.")
    port: int = Field(8000, ge=1, le=65535, description="The port that the web server listens on.")
    trusted_proxies: Networks = Field(
        (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128")),
        description="Networks of the proxies whose word on a request's address and on https is believed.",
    )
    secret_key: SigningKey = Field(
        SecretStr(""), description="What access tokens are signed with, the same for all processes; empty for a key "
        "that is made at first start and kept in the data folder."
    )  # fmt: skip
    registration: bool = Field(False, description="Whether visitors may make accounts for themselves.")
    metrics_token: SecretStr = Field(
        SecretStr(""), description="The Bearer token for /metrics; empty to show them to this machine only."
    )
    api_per_minute: int = Field(
        1200, ge=0, description="How often one caller may ask the API in a minute, a quarter of it at once; 0: any."
    )
    log_format: Literal["auto", "pretty", "json"] = Field(
        "auto", description="How logs are written; auto is pretty on a terminal and JSON otherwise."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least level that is logged."
    )
    user_agent: str = Field(
        "", description="What Feedmill calls itself when it fetches; empty for its own name, version and address."
    )
    allow_private: Networks = Field(
        (), description="Networks (CIDR, separated by commas) that may be fetched from although they are private."
    )
    host_gap: float = Field(1.0, ge=0, le=3600, description="Seconds between two requests to one host.")
    fetches_at_once: int = Field(20, ge=1, le=1000, description="How many feeds are fetched at once.")
    max_feed_bytes: int = Field(15_000_000, ge=1000, description="The largest feed, in bytes after decompression.")
    images_at_once: int = Field(5, ge=1, le=100, description="How many images are fetched at once.")
    max_image_bytes: int = Field(10_000_000, ge=1000, description="The largest image that is kept, in bytes.")
    images_total_bytes: int = Field(
        0,
        ge=0,
        description="How many bytes all kept images may take together; when they do, further ones wait. 0: any.",
    )
    connect_seconds: float = Field(5, gt=0, description="How long connecting to a host may take.")
    read_seconds: float = Field(20, gt=0, description="How long a host may be silent.")
    total_seconds: float = Field(30, gt=0, description="How long a request may take in all.")

    feeds_file: Path | None = Field(
        None, description="A YAML, JSON or TOML file that declares feeds; by default feeds.yaml, feeds.yml, "
        "feeds.json or feeds.toml in the data folder, if there is one."
    )  # fmt: skip

    backoff_base: float = Field(
        30, gt=0, description="Minutes until the next try after a feed's first failure; doubles."
    )
    backoff_cap: float = Field(
        1440, gt=0, description="The longest time between two tries of a failing feed, in minutes."
    )

    retention_days: float = Field(
        180, ge=1, description="Days until an entry that has left its feed is purged; starred, labelled and "
        "read-later ones stay."
    )  # fmt: skip
    later_days: float = Field(
        30, ge=1, le=3650, description="Days for which an entry is kept for later, unless its reader says until when."
    )
    raw_days: float = Field(
        30, ge=1, description="Days for which the raw bodies of feeds are kept, for 'feedmill restore'."
    )

    @property
    def later_for(self) -> timedelta:
        return timedelta(days=self.later_days)

    @property
    def database_url(self) -> str:
        """The database's URL with the default filled in."""
        return self.database or f"sqlite:///{self.data / 'feedmill.db'}"

    def origin(self, name: str) -> Origin:
        """Where the value of a setting comes from."""
        return self._origins.get(name, "default")

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource, dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:  # fmt: skip
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, toml_file=_file())


def load(**given: Any) -> Settings:
    """The effective settings; `given` are those from the command line. A bad one raises `BadSetting`."""
    named = os.environ.get(f"{PREFIX}CONFIG")
    if named and not Path(named).is_file():
        raise BadSetting(f"{PREFIX}CONFIG names {named}, and there is no such file")
    _refuse_unknown_variables()
    typed = {name: value for name, value in given.items() if value is not None}
    try:
        settings = Settings(**typed)
    except ValidationError as error:
        raise BadSetting("; ".join(_explain(problem, typed) for problem in error.errors())) from None
    except (ValueError, OSError) as error:
        raise BadSetting(f"{_file()}: {error}") from None
    settings._origins.update({name: _origin(name, typed) for name in settings.model_fields_set})
    return settings


def _origin(name: str, typed: Mapping[str, Any]) -> Origin:
    if name in typed:
        return "command line"
    return "environment" if f"{PREFIX}{name.upper()}" in os.environ else "file"


def _file() -> Path:
    return Path(os.environ.get(f"{PREFIX}CONFIG") or FILE_NAME)


def _refuse_unknown_variables() -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields} | {f"{PREFIX}CONFIG"}
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and not name.startswith(f"{PREFIX}TEST_") and name not in known:
            raise BadSetting(_no_setting(name, name.removeprefix(PREFIX).lower()))


def _no_setting(place: str, name: str) -> str:
    likely = get_close_matches(name, Settings.model_fields, n=1)
    hint = f"did you mean {likely[0]}?" if likely else "take it away, and 'feedmill settings' lists them all"
    return f"{place} is no setting of Feedmill: {hint}"


def _explain(problem: Any, typed: Mapping[str, Any]) -> str:
    name = str(problem["loc"][0]) if problem["loc"] else "settings"
    if problem["type"] == "extra_forbidden":
        return _no_setting(_place(name, typed), name)
    return f"{_place(name, typed)}: {problem['msg'].removeprefix('Value error, ')}"


def _place(name: str, typed: Mapping[str, Any]) -> str:
    """A setting's name with where its value stands, unless it was typed just now."""
    if name in typed:
        return name
    variable = f"{PREFIX}{name.upper()}"
    return f"{name} ({variable if variable in os.environ else f'in {_file()}'})"
