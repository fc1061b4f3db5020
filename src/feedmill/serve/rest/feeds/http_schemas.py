"""Schemas of how a feed is requested, made from `model/fetch_options.py`."""

from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from feedmill.library.subscriptions.http_options import HttpOptionsSummary, check_login_name, check_proxy
from feedmill.model.fetch_options import MAX_HEADERS, MAX_OPTION_LENGTH, TEXT_OPTIONS, FetchOptions
from feedmill.outbound.encrypted_options import encode_options
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.field_types import StrictBool, UrlText

HeaderText = Annotated[str, StringConstraints(max_length=MAX_OPTION_LENGTH, pattern=r"^[\x20-\x7e]*$")]
HeaderName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]

SECRET_TEXTS = [option.name for option in TEXT_OPTIONS if option.options.is_secret]
SHOWN_TEXTS = [option.name for option in TEXT_OPTIONS if not option.options.is_secret]


class HttpLoginRequest(RequestBody):
    name: HeaderText
    password: HeaderText


class _TextOptionsRequest(RequestBody):
    __annotations__ = {
        option.name: Annotated[(UrlText if option.options.is_url else HeaderText) | None, Field(default=None)]
        for option in TEXT_OPTIONS
    }


class HttpOptionsRequest(_TextOptionsRequest):
    """How the feed is requested. A feed with any of these options is private to its subscriber."""

    login: HttpLoginRequest | None = None
    headers: dict[HeaderName, HeaderText] = Field(default_factory=dict, max_length=MAX_HEADERS)
    verify_tls: StrictBool = True

    def kept(self) -> str | None:
        """The options as JSON; None if all are the default. Raises `BadInput` for values that can't be sent."""
        login = (self.login.name, self.login.password) if self.login else None
        texts: dict[str, Any] = {option.name: getattr(self, option.name) for option in TEXT_OPTIONS}
        if login:
            check_login_name(login[0])
        if texts["proxy"]:
            check_proxy(texts["proxy"])
        return encode_options(FetchOptions(login, dict(self.headers), verify_tls=self.verify_tls, **texts))


class _TextOptionsResponse(BaseModel):
    __annotations__ = dict.fromkeys(SHOWN_TEXTS, str | None) | {f"has_{name}": bool for name in SECRET_TEXTS}


class HttpOptionsResponse(_TextOptionsResponse):
    """How the feed is requested, without its secrets."""

    name: str | None
    header_names: list[str]
    verify_tls: bool

    @classmethod
    def of(cls, summary: HttpOptionsSummary) -> "HttpOptionsResponse":
        own = {"name": summary.name, "header_names": summary.header_names, "verify_tls": summary.verify_tls}
        has = {f"has_{name}": name in summary.kept for name in SECRET_TEXTS}
        return cls.model_validate({**own, **summary.shown, **has})
