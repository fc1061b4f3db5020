"""All settings, each declared once with its type and default; its description is in the catalogue (`setting.NAME`).

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
from urllib.parse import SplitResult, urlsplit

from feedmill.data_folder import CHECKOUT_FOLDER, default_data_folder, user_config_folder
from feedmill.errors import BadSetting
from feedmill.identity_providers import IdentityProvider, read_identity_providers
from feedmill.model.hosts import parse_host
from feedmill.setting_fields import AfterValidator, BeforeValidator, Field, SecretStr, SettingField, declared_fields

PREFIX = "FEEDMILL_"
FILE_NAME = "feedmill.toml"
PATH_SETTINGS = ("data", "database", "objects", "feeds_file")
# Those in which ~ is the home folder.
EXPANDED_SETTINGS = ("database", "objects")

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
        raise ValueError(f"{text!r} is not a host name; write it like feeds.example.org, or * for any")
    return host


def _split_web_url(text: str) -> SplitResult | None:
    """The parts of a URL with http or https, a host and perhaps a path; None for anything else."""
    try:
        url = urlsplit(text)
        is_address = url.scheme in ("http", "https") and parse_host(url.netloc) is not None
    except ValueError:
        return None
    return url if is_address and not url.query and not url.fragment else None


def _check_public_url(text: str) -> str:
    url = _split_web_url(text)
    if text and (url is None or url.path not in ("", "/")):
        raise ValueError("write it like https://feeds.example.org, without a path")
    return text.rstrip("/")


def _check_hub_url(text: str) -> str:
    try:
        url = urlsplit(text)
        is_hub = url.scheme in ("http", "https") and parse_host(url.netloc) is not None and not url.fragment
    except ValueError:
        is_hub = False
    if text and (not is_hub or not text.isascii() or not text.isprintable() or set(text) & set(' <>"')):
        raise ValueError("write it like https://hub.example.org/")
    return text


def _check_base_url(text: str) -> str:
    if text and _split_web_url(text) is None:
        raise ValueError("write it like https://images.example.org/feedmill, without a query")
    return text.rstrip("/")


def _check_header_name(text: str) -> str:
    if text and not (text.isascii() and text.replace("-", "").isalnum()):
        raise ValueError("write the name of a header, such as Remote-User")
    if text.lower() in ("authorization", "cookie", "host", "origin"):
        raise ValueError("this header has another meaning; a proxy uses one such as Remote-User")
    return text


def _check_sign_out_url(text: str) -> str:
    is_path = text.startswith("/") and not text.startswith(("//", "/\\"))
    is_plain = text.isascii() and text.isprintable() and " " not in text
    if text and not (is_plain and (is_path or urlsplit(text).scheme in ("http", "https"))):
        raise ValueError("write it like https://auth.example.org/logout, or as a path of this site")
    return text


Hosts = Annotated[tuple[str, ...], BeforeValidator(_split_hosts), AfterValidator(_check_hosts)]
PublicUrl = Annotated[str, AfterValidator(_check_public_url)]
BaseUrl = Annotated[str, AfterValidator(_check_base_url)]
HubUrl = Annotated[str, AfterValidator(_check_hub_url)]
HeaderName = Annotated[str, AfterValidator(_check_header_name)]
SignOutUrl = Annotated[str, AfterValidator(_check_sign_out_url)]
IdentityProviders = Annotated[tuple[IdentityProvider, ...], BeforeValidator(read_identity_providers)]

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
        raise ValueError(f"a key must have at least {MIN_KEY_LENGTH} characters")
    if text and (len(set(text)) < 8 or any(word in text.lower() for word in EXAMPLE_KEY_WORDS)):
        raise ValueError("this one can be guessed; 'openssl rand -hex 32' creates a good one")
    return key


SigningKey = Annotated[SecretStr, AfterValidator(_refuse_example_key)]


SettingOrigin = Literal["command line", "environment", "file", "default"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    fields: ClassVar[Mapping[str, SettingField]]
    origins: Mapping[str, SettingOrigin] = field(default_factory=dict, repr=False)
    # No setting: servers of this process itself, which may be fetched from, by address and port.
    own_servers: frozenset[tuple[str, int]] = field(default_factory=frozenset, repr=False)

    data: Path = Field(CHECKOUT_FOLDER)
    database: str = Field("")
    database_token: SecretStr = Field(SecretStr(""))
    d1_statements: int = Field(1000, ge=10, le=1000)
    objects: str = Field("")
    s3_access_key: str = Field("")
    s3_secret_key: SecretStr = Field(SecretStr(""))
    redis: SecretStr = Field(SecretStr(""))
    listen: str = Field("127.0.0.1")
    port: int = Field(8000, ge=1, le=65535)
    public_url: PublicUrl = Field("")
    websub: bool = Field(True)
    websub_hub: HubUrl = Field("")
    allowed_hosts: Hosts = Field(())
    trusted_proxies: Networks = Field((IPv4Network("127.0.0.0/8"), IPv6Network("::1/128")))
    max_connections: int = Field(4000, ge=16)
    connections_per_address: int = Field(100, ge=1)
    header_seconds: float = Field(20, gt=0)
    body_seconds: float = Field(30, gt=0)
    send_seconds: float = Field(60, gt=0)
    keep_alive_seconds: float = Field(180, gt=0)
    secret_key: SigningKey = Field(SecretStr(""))
    old_secret_keys: SecretStr = Field(SecretStr(""))
    registration: bool = Field(False)
    require_two_factor: Literal["off", "admins", "everyone"] = Field("off")
    password_sign_in: bool = Field(True)
    oidc: IdentityProviders = Field(())
    sign_in_header: HeaderName = Field("")
    sign_in_header_from: Networks = Field(())
    sign_in_header_creates: bool = Field(False)
    sign_out_url: SignOutUrl = Field("")
    metrics_token: SecretStr = Field(SecretStr(""))
    api_per_minute: int = Field(1200, ge=0)
    mcp: bool = Field(True)
    log_format: Literal["auto", "pretty", "json"] = Field("auto")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info")
    user_agent: str = Field("")
    allow_private: Networks = Field(())
    host_gap: float = Field(1.0, ge=0, le=3600)
    fetches_at_once: int = Field(20, ge=1, le=1000)
    max_feed_bytes: int = Field(15_000_000, ge=1000)
    images_at_once: int = Field(5, ge=1, le=100)
    max_image_bytes: int = Field(10_000_000, ge=1000)
    images_total_bytes: int = Field(0, ge=0)
    images_base_url: BaseUrl = Field("")
    connect_seconds: float = Field(5, gt=0)
    read_seconds: float = Field(20, gt=0)
    total_seconds: float = Field(30, gt=0)
    subscribe_seconds: float = Field(0.8, gt=0)

    feeds_file: Path | None = Field(None)

    backoff_base: float = Field(30, gt=0)
    backoff_cap: float = Field(1440, gt=0)

    retention_days: float = Field(180, ge=1)
    later_days: float = Field(30, ge=1, le=3650)
    raw_days: float = Field(30, ge=1)

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
    if named and not _is_file(Path(named)):
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
    origins = {name: _origin(name, from_command_line) for name in values}
    if "data" not in values:
        values["data"] = default_data_folder()
    return Settings(**values, origins=origins)


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
        values = tomllib.loads(path.read_text("utf-8")) if _is_file(path) else {}
    except (ValueError, OSError) as error:
        raise BadSetting(f"{path}: {error}") from None
    if path != _named_or_current_file():
        _refuse_relative_paths(path, values)
    return values


def _refuse_relative_paths(file: Path, values: Mapping[str, Any]) -> None:
    """Each command would resolve them against the folder in which it is typed, and find other data."""
    for name in PATH_SETTINGS:
        text = values.get(name)
        if isinstance(text, str) and _is_relative(name, text):
            raise BadSetting(f"{name} (in {file}): write the whole path, since commands are typed in any folder")


def _is_relative(name: str, text: str) -> bool:
    """Whether the value is a relative path, rather than a whole one or the URL of a server."""
    path = text.removeprefix("sqlite:///")
    is_path = path != text if name == "database" else bool(text) and "://" not in text
    is_in_home = name in EXPANDED_SETTINGS and path.startswith("~")
    return is_path and not is_in_home and not Path(path).is_absolute()


def _values_from_environment() -> dict[str, Any]:
    variables = {name: f"{PREFIX}{name.upper()}" for name in Settings.fields}
    return {name: os.environ[variable] for name, variable in variables.items() if variable in os.environ}


def _origin(name: str, from_command_line: Mapping[str, Any]) -> SettingOrigin:
    if name in from_command_line:
        return "command line"
    return "environment" if f"{PREFIX}{name.upper()}" in os.environ else "file"


def _file() -> Path:
    """The file of settings: the one that is named, else that of the current folder, else that of the user."""
    first = _named_or_current_file()
    if os.environ.get(f"{PREFIX}CONFIG") or _is_file(first) or (folder := user_config_folder()) is None:
        return first
    return folder / FILE_NAME


def _named_or_current_file() -> Path:
    return Path(os.environ.get(f"{PREFIX}CONFIG") or FILE_NAME)


def _is_file(path: Path) -> bool:
    """Whether there is such a file. A folder that we may not look into has none: commands are typed anywhere."""
    try:
        return path.is_file()
    except OSError:
        return False


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
