"""How one feed is requested: login, headers, cookie, proxy. A field of `FetchOptions` is defined nowhere else.

From these fields are made what the database stores (encrypted, in `feeds.http_options`), the form
(`library/subscriptions/http_options.py`), the requests and responses of the API
(`serve/rest/feeds/http_schemas.py`) and `docs/reference/feed-settings.md`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from feedmill.model.setting_definitions import SettingKind, SettingOptions, define_settings

MAX_OPTION_LENGTH = 4000
MAX_HEADERS = 20


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """The HTTP options of a feed. Credentials, cookie and headers are sent to the feed's own server alone.

    The proxy is an http URL whose address is checked like every other. The hosts that are requested through it are
    checked too, but the proxy resolves them again by itself: that it reaches no private address is up to the proxy.
    """

    basic_auth: Annotated[
        tuple[str, str] | None,
        SettingOptions("A name and a password.", is_secret=True, maximum=MAX_OPTION_LENGTH),
    ] = field(default=None, repr=False)
    headers: Annotated[Mapping[str, str], SettingOptions("Further headers.", is_secret=True, maximum=MAX_HEADERS)] = (
        field(default_factory=dict, repr=False)
    )
    cookie: Annotated[str | None, SettingOptions("The header `Cookie`.", is_secret=True, maximum=MAX_OPTION_LENGTH)] = (
        field(default=None, repr=False)
    )
    user_agent: Annotated[str | None, SettingOptions("The header `User-Agent`.", maximum=MAX_OPTION_LENGTH)] = None
    proxy: Annotated[
        str | None,
        SettingOptions("An http:// URL.", is_secret=True, is_url=True, maximum=MAX_OPTION_LENGTH),
    ] = field(default=None, repr=False)
    verify_tls: Annotated[bool, SettingOptions("Whether the server's certificate must be valid.")] = True


FETCH_OPTIONS = define_settings(FetchOptions())
# Those that are one line of text.
TEXT_OPTIONS = tuple(option for option in FETCH_OPTIONS.values() if option.kind is SettingKind.LINE)
