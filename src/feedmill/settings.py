"""All settings, each declared once with its type, default and description.

The command line takes precedence over the environment (`FEEDMILL_…`), that over the file, that over the default.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from feedmill.errors import BadSetting
from feedmill.model.hosts import parse_host
from feedmill.setting_fields import AfterValidator, BeforeValidator, Field, SecretStr, SettingField, declared_fields

PREFIX = "FEEDMILL_"
FILE_NAME = "feedmill.toml"

Network = IPv4Network | IPv6Network


def _networks(value: object) -> object:
    if isinstance(value, str):
        value = [part for part in value.replace(",", " ").split() if part]
    return [ip_network(str(part), strict=False) for part in value] if isinstance(value, list | tuple) else value


Networks = Annotated[tuple[Network, ...], BeforeValidator(_networks)]


def _split_hosts(value: object) -> object:
    return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value


def _check_hosts(hosts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_check_host(host) for host in hosts)


def _check_host(text: str) -> str:
    """Normalizes a host name: lower case, without a port or a final dot."""
    if text == "*":
        return text
    host = parse_host(text)
    if host is None:
        raise ValueError(f"{text!r} is no host name; write it like feeds.example.org, or * for any")
    return host


def _check_public_url(text: str) -> str:
    try:
        url = urlsplit(text)
        is_address = url.scheme in ("http", "https") and parse_host(url.netloc) is not None
    except ValueError:
        is_address = False
    if text and (not is_address or url.path not in ("", "/") or url.query or url.fragment):
        raise ValueError("write it like https://feeds.example.org, without a path")
    return text.rstrip("/")


Hosts = Annotated[tuple[str, ...], BeforeValidator(_split_hosts), AfterValidator(_check_hosts)]
PublicUrl = Annotated[str, AfterValidator(_check_public_url)]

MIN_KEY_LENGTH = 32
# Words in the keys of examples, which everybody knows.
EXAMPLE_KEY_WORDS = (
    "changeme",
    "change-me",
    "change_me",
    "change me",
    "your-secret",
    "your_secret",
    "example",
    "insecure",
)


def _refuse_example_key(key: SecretStr) -> SecretStr:
    text = key.get_secret_value()
    if text and len(text) < MIN_KEY_LENGTH:
        raise ValueError(f"a key has at least {MIN_KEY_LENGTH} characters")
    if text and (len(set(text)) < 8 or any(word in text.lower() for word in EXAMPLE_KEY_WORDS)):
        raise ValueError("this one can be guessed; 'openssl rand -hex 32' makes a good one")
    return key


SigningKey = Annotated[SecretStr, AfterValidator(_refuse_example_key)]


SettingOrigin = Literal["command line", "environment", "file", "default"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    fields: ClassVar[Mapping[str, SettingField]]
    origins: Mapping[str, SettingOrigin] = field(default_factory=dict, repr=False)

    data: Path = Field(Path("data"), description="The folder for the database, kept objects and the signing key.")
    database: str = Field(
        "",
        description="Where rows are kept: empty for SQLite in the data folder, or a sqlite:///, postgresql://, "
        "mysql:// or d1+https:// URL.",
    )
    database_token: SecretStr = Field(SecretStr(""), description="The Bearer token of the D1 proxy worker.")
    d1_statements: int = Field(
        1000, ge=10, le=1000, description="How many statements D1 takes in one batch: 50 on Cloudflare's free plan."
    )
    objects: str = Field(
        "",
        description="Where images and raw bodies are kept: empty for a folder in the data folder, a path, or "
        "s3://bucket/prefix?endpoint=…&region=….",
    )
    s3_access_key: str = Field("", description="The access key of the S3 store.")
    s3_secret_key: SecretStr = Field(SecretStr(""), description="The secret key of the S3 store.")
    redis: SecretStr = Field(
        SecretStr(""), description="The redis:// URL of Redis; empty to coordinate in this process only."
    )
    listen: str = Field("127.0.0.1", description="The address that the web server listens on.")
    port: int = Field(8000, ge=1, le=65535, description="The port that the web server listens on.")
    public_url: PublicUrl = Field(
        "", description="The address that people open, such as https://feeds.example.org; its host name is allowed."
    )
    allowed_hosts: Hosts = Field(
        (),
        description="Further host names that requests may be for, separated by commas; * allows any. Always "
        "allowed: IP addresses, localhost, this machine's name and that of public_url.",
    )
    trusted_proxies: Networks = Field(
        (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128")),
        description="Networks of the proxies whose word on a request's address and on https is believed, and to "
        "which connections_per_address does not apply.",
    )
    max_connections: int = Field(
        4000,
        ge=16,
        description="How many connections the web server keeps open at once; fewer if the limit of open "
        "files does not allow so many.",
    )
    connections_per_address: int = Field(
        100, ge=1, description="How many of them may come from one address (IPv6: from one /64 network)."
    )
    header_seconds: float = Field(20, gt=0, description="How long a client may take to send the head of a request.")
    body_seconds: float = Field(
        30, gt=0, description="How long a client that sends a body may be slower than 500 bytes a second."
    )
    send_seconds: float = Field(
        60, gt=0, description="How long a client that is sent an answer may take less than 500 bytes a second of it."
    )
    keep_alive_seconds: float = Field(
        180,
        gt=0,
        description="How long a connection without a request is kept for the next one. Longer than a proxy "
        "in front keeps it, so that the proxy is the one that closes it.",
    )
    secret_key: SigningKey = Field(
        SecretStr(""),
        description="What access tokens are signed with and feed passwords encrypted, the same for all "
        "processes; empty for a key that is made at first start and kept in the data folder (secret.key).",
    )
    old_secret_keys: SecretStr = Field(
        SecretStr(""),
        description="Former values of secret_key, separated by commas: what was encrypted with them can still be read.",
    )
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
        None,
        description="A YAML, JSON or TOML file that declares feeds; by default feeds.yaml, feeds.yml, "
        "feeds.json or feeds.toml in the data folder, if there is one.",
    )

    backoff_base: float = Field(
        30, gt=0, description="Minutes until the next try after a feed's first failure; doubles."
    )
    backoff_cap: float = Field(
        1440, gt=0, description="The longest time between two tries of a failing feed, in minutes."
    )

    retention_days: float = Field(
        180,
        ge=1,
        description="Days until an entry that has left its feed is purged; starred, labelled and read-later ones stay.",
    )
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
        """The URL of the database, also if it is the default."""
        return self.database or f"sqlite:///{self.data / 'feedmill.db'}"

    def origin(self, name: str) -> SettingOrigin:
        """Where the value of a setting comes from."""
        return self.origins.get(name, "default")


Settings.fields = declared_fields(Settings)


def load_settings(**given: Any) -> Settings:
    """Loads the effective settings; `given` are from the command line. Raises `BadSetting` for an invalid one."""
    named = os.environ.get(f"{PREFIX}CONFIG")
    if named and not Path(named).is_file():
        raise BadSetting(f"{PREFIX}CONFIG names {named}, and there is no such file")
    _refuse_unknown_variables()
    from_command_line = {name: value for name, value in given.items() if value is not None}
    written = _values_from_file() | _values_from_environment() | from_command_line
    values, problems = {}, []
    for name, value in written.items():
        try:
            values[name] = _parse(name, value, from_command_line)
        except ValueError as error:
            problems.append(str(error))
    if problems:
        raise BadSetting("; ".join(problems))
    return Settings(**values, origins={name: _origin(name, from_command_line) for name in values})


def _parse(name: str, value: object, from_command_line: Mapping[str, Any]) -> Any:
    """Parses the value of a setting; raises `ValueError`, whose message names the setting and its source."""
    setting = Settings.fields.get(name)
    if setting is None:
        raise ValueError(_unknown_setting(_name_with_source(name, from_command_line), name))
    try:
        return setting.read(value)
    except ValueError as error:
        raise ValueError(f"{_name_with_source(name, from_command_line)}: {error}") from None


def _values_from_file() -> dict[str, Any]:
    path = _file()
    try:
        return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
    except (ValueError, OSError) as error:
        raise BadSetting(f"{path}: {error}") from None


def _values_from_environment() -> dict[str, Any]:
    variables = {name: f"{PREFIX}{name.upper()}" for name in Settings.fields}
    return {name: os.environ[variable] for name, variable in variables.items() if variable in os.environ}


def _origin(name: str, from_command_line: Mapping[str, Any]) -> SettingOrigin:
    if name in from_command_line:
        return "command line"
    return "environment" if f"{PREFIX}{name.upper()}" in os.environ else "file"


def _file() -> Path:
    return Path(os.environ.get(f"{PREFIX}CONFIG") or FILE_NAME)


def _refuse_unknown_variables() -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.fields} | {f"{PREFIX}CONFIG"}
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and not name.startswith(f"{PREFIX}TEST_") and name not in known:
            raise BadSetting(_unknown_setting(name, name.removeprefix(PREFIX).lower()))


def _unknown_setting(source: str, name: str) -> str:
    likely = get_close_matches(name, Settings.fields, n=1)
    hint = f"did you mean {likely[0]}?" if likely else "take it away, and 'feedmill settings' lists them all"
    return f"{source} is no setting of Feedmill: {hint}"


def _name_with_source(name: str, from_command_line: Mapping[str, Any]) -> str:
    """The name of a setting with the source of its value, unless it is from the command line."""
    if name in from_command_line:
        return name
    variable = f"{PREFIX}{name.upper()}"
    return f"{name} ({variable if variable in os.environ else f'in {_file()}'})"
