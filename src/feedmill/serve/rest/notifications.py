"""`/api/notifications`: targets that are notified through Apprise (ntfy, Telegram, mail …), and browsers."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from feedmill.api_schemas.response_body import MessageText
from feedmill.library.notifications.browser_push import check_subscription
from feedmill.model.notifications.notification_target import (
    DigestPeriod,
    NotificationEvent,
    NotificationTarget,
    TargetSettings,
)
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import Id, PathId, ShortText, StrictBool, UrlText

router = APIRouter(prefix="/notifications", tags=["notifications"])

NotificationEventName = Literal["entries.matched", "feed.failing", "feed.healed"]
NotificationEvents = Annotated[
    list[NotificationEventName], Field(max_length=10, description="`entries.matched`: of filters that notify.")
]
SearchIds = Annotated[list[Id], Field(max_length=500, description="Saved searches whose new hits it is notified of.")]
GapMinutes = Annotated[
    Literal[0, 5, 15, 60, 360, 1440],
    Field(description="Between two messages at least so much time passes; the rest is bundled."),
]

DigestName = Annotated[
    Literal["none", "daily", "weekly"],
    Field(description="A digest of new and unread entries, at seven in the morning; weekly on Mondays."),
]


class NewTargetSettings(RequestBody):
    name: ShortText
    events: NotificationEvents = Field(default=["feed.failing", "feed.healed"])
    search_ids: SearchIds = Field(default=[])
    gap_minutes: GapMinutes = 5
    digest: DigestName = "none"


class NewTarget(NewTargetSettings):
    url: UrlText = Field(description="The address as Apprise writes it. It is stored encrypted and never returned.")


class NewBrowser(NewTargetSettings):
    """A subscription of a browser, as its `PushManager` gives it."""

    endpoint: UrlText = Field(description="The address at the push service. It is stored encrypted and never returned.")
    p256dh: ShortText
    auth: ShortText


class PushKeyResponse(BaseModel):
    public_key: str = Field(description="The `applicationServerKey` to subscribe with.")


class TargetChanges(RequestBody):
    """Fields that are left out are not changed."""

    name: ShortText | None = None
    url: UrlText | None = None
    events: NotificationEvents | None = None
    search_ids: SearchIds | None = None
    gap_minutes: GapMinutes | None = None
    paused: StrictBool | None = None
    digest: DigestName | None = None


class TargetResponse(BaseModel):
    id: int
    name: str
    scheme: str = Field(description="The beginning of the address, such as `ntfys`; `webpush` for a browser.")
    events: list[NotificationEventName]
    search_ids: list[int]
    gap_minutes: int
    paused: bool
    digest: DigestPeriod
    waiting: int = Field(description="The number of notifications that wait for the next message.")
    attempts: int = Field(description="The number of failed attempts in a row.")
    next_attempt_at: datetime = Field(description="No message is sent before.")
    last_success_at: datetime | None
    last_error: MessageText | None
    created_at: datetime


class TargetPage(BaseModel):
    items: list[TargetResponse]
    next: None = Field(default=None, description="Always null: there is one page.")


@router.get("")
async def list_notification_targets(app: TheApp, who: Reader) -> TargetPage:
    """Your targets; never their addresses."""
    return TargetPage(items=[_response(each) for each in await app.notifications.all(who.user.id)])


@router.post("", status_code=201)
async def create_notification_target(app: TheApp, who: Writer, new: NewTarget) -> TargetResponse:
    """Adds a target. Whether its address is right shows a test message."""
    return _response(await app.notifications.create(who.user.id, new.url, _settings(new)))


@router.get("/browser-key")
async def read_push_key(app: TheApp, who: Reader) -> PushKeyResponse:
    """The key of this instance for web push."""
    return PushKeyResponse(public_key=await app.notifications.browsers.public_key())


@router.post("/browsers", status_code=201)
async def add_browser(app: TheApp, who: Writer, new: NewBrowser) -> TargetResponse:
    """Adds a browser as a target; one that is known already stays as it is."""
    subscription = check_subscription(new.endpoint, new.p256dh, new.auth)
    return _response(await app.notifications.create_browser(who.user.id, subscription, _settings(new)))


@router.get("/{target_id:int}", responses=problem_responses(404))
async def read_notification_target(app: TheApp, who: Reader, target_id: PathId) -> TargetResponse:
    return _response(await app.notifications.one(who.user.id, target_id))


@router.patch("/{target_id:int}", responses=problem_responses(404))
async def change_notification_target(
    app: TheApp, who: Writer, target_id: PathId, changes: TargetChanges
) -> TargetResponse:
    before = (await app.notifications.one(who.user.id, target_id)).settings
    settings = TargetSettings(
        before.name if changes.name is None else changes.name,
        before.events if changes.events is None else _events(changes.events),
        before.search_ids if changes.search_ids is None else tuple(changes.search_ids),
        before.gap if changes.gap_minutes is None else timedelta(minutes=changes.gap_minutes),
        before.paused if changes.paused is None else changes.paused,
        before.digest if changes.digest is None else DigestPeriod(changes.digest),
    )
    return _response(await app.notifications.change(who.user.id, target_id, settings, changes.url or ""))


@router.delete("/{target_id:int}", status_code=204, responses=problem_responses(404))
async def delete_notification_target(app: TheApp, who: Writer, target_id: PathId) -> None:
    """Deletes a target with what waits for it."""
    await app.notifications.delete(who.user.id, target_id)


@router.post("/{target_id:int}/test", status_code=202, responses=problem_responses(404))
async def test_notification_target(app: TheApp, who: Writer, target_id: PathId) -> TargetResponse:
    """Sends a test message within seconds, also if it is paused; `last_success_at` or `last_error` has the result."""
    await app.notifications.test(who.user.id, target_id)
    return _response(await app.notifications.one(who.user.id, target_id))


def _settings(new: NewTargetSettings) -> TargetSettings:
    return TargetSettings(
        new.name,
        _events(new.events),
        tuple(new.search_ids),
        timedelta(minutes=new.gap_minutes),
        digest=DigestPeriod(new.digest),
    )


def _events(names: list[NotificationEventName]) -> tuple[NotificationEvent, ...]:
    return tuple(NotificationEvent(name) for name in names)


def _response(target: NotificationTarget) -> TargetResponse:
    settings = target.settings
    same = ("id", "scheme", "waiting", "attempts", "next_attempt_at", "last_success_at", "last_error", "created_at")
    chosen = {
        "name": settings.name,
        "events": [event for event in settings.events if event is not NotificationEvent.SEARCH_HITS],
        "search_ids": list(settings.search_ids),
        "gap_minutes": int(settings.gap.total_seconds() // 60),
        "paused": settings.paused,
        "digest": settings.digest,
    }
    return TargetResponse.model_validate({name: getattr(target, name) for name in same} | chosen)
