"""Services that articles are saved to (Linkding, Wallabag …), their options, and the articles that were saved."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from feedmill.i18n.messages import Message
from feedmill.model.encrypted import Encrypted

MAX_NAME_LENGTH = 100
MAX_OPTION_LENGTH = 4000


class ServiceKind(StrEnum):
    """`template`: any address, by a template of the request."""

    WALLABAG = "wallabag"
    LINKDING = "linkding"
    KARAKEEP = "karakeep"
    READWISE = "readwise"
    INSTAPAPER = "instapaper"
    RAINDROP = "raindrop"
    OMNIVORE = "omnivore"
    TEMPLATE = "template"


class SaveStatus(StrEnum):
    PENDING = "pending"
    SAVED = "saved"
    FAILED = "failed"


class BodyFormat(StrEnum):
    """How the body of a template is written."""

    JSON = "json"
    FORM = "form"
    TEXT = "text"


class TemplateMethod(StrEnum):
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    GET = "GET"


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """How a service is reached. Which of them a kind has is in `SERVICE_FIELDS`; the others are empty."""

    address: str = ""
    token: str = field(default="", repr=False)
    username: str = ""
    password: str = field(default="", repr=False)
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    tags: str = ""
    collection: str = ""
    method: str = TemplateMethod.POST
    headers: str = field(default="", repr=False)
    body_format: str = BodyFormat.JSON
    body: str = ""


@dataclass(frozen=True, slots=True)
class ServiceField:
    """An option of a kind of service. `default` is used if it is left empty."""

    name: str
    is_required: bool = True
    is_secret: bool = False
    default: str = ""


_ADDRESS = ServiceField("address")
_TOKEN = ServiceField("token", is_secret=True)
_TAGS = ServiceField("tags", is_required=False)


def _hosted_at(address: str) -> ServiceField:
    """The address of a service that everybody uses at one place; another one may be given."""
    return ServiceField("address", is_required=False, default=address)


SERVICE_FIELDS: dict[ServiceKind, tuple[ServiceField, ...]] = {
    ServiceKind.WALLABAG: (
        _ADDRESS,
        ServiceField("client_id"),
        ServiceField("client_secret", is_secret=True),
        ServiceField("username"),
        ServiceField("password", is_secret=True),
        _TAGS,
    ),
    ServiceKind.LINKDING: (_ADDRESS, _TOKEN, _TAGS),
    ServiceKind.KARAKEEP: (_ADDRESS, _TOKEN),
    ServiceKind.READWISE: (_TOKEN, _TAGS, _hosted_at("https://readwise.io")),
    ServiceKind.INSTAPAPER: (
        ServiceField("username"),
        ServiceField("password", is_required=False, is_secret=True),
        _hosted_at("https://www.instapaper.com"),
    ),
    ServiceKind.RAINDROP: (
        _TOKEN,
        ServiceField("collection", is_required=False),
        _TAGS,
        _hosted_at("https://api.raindrop.io"),
    ),
    ServiceKind.OMNIVORE: (_ADDRESS, _TOKEN),
    ServiceKind.TEMPLATE: (
        ServiceField("method", is_required=False, default=TemplateMethod.POST),
        _ADDRESS,
        ServiceField("headers", is_required=False, is_secret=True),
        ServiceField("body_format", is_required=False, default=BodyFormat.JSON),
        ServiceField("body", is_required=False),
    ),
}


@dataclass(frozen=True, slots=True)
class SaveService:
    """A service of a user. `by_key`: the keyboard shortcut saves to it."""

    id: int
    user_id: int
    kind: ServiceKind
    name: str
    options: Encrypted
    by_key: bool
    last_success_at: datetime | None
    last_error: Message | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ServiceSave:
    """An article that is saved to a service, once. `next_attempt_at` is None when it has ended."""

    id: int
    service_id: int
    entry_id: int
    status: SaveStatus
    attempts: int
    next_attempt_at: datetime | None
    http_status: int | None
    last_error: Message | None
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class ClaimedSave:
    """A save leased by this process: only `token` can settle it."""

    save: ServiceSave
    token: str
    user_id: int
    kind: ServiceKind
    options: Encrypted


@dataclass(frozen=True, slots=True)
class SaveFailed:
    """Why an attempt failed, and when it is retried; None for never.

    `service_is_away`: its other saves wait too. `counted`: it was an attempt.
    """

    reason: Message
    again_at: datetime | None
    http_status: int | None = None
    service_is_away: bool = False
    counted: bool = True
