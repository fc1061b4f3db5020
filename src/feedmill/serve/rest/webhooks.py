"""`/api/webhooks`: addresses that are called when something happens."""

from datetime import datetime
from typing import Annotated, Literal, Self

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from feedmill.model.webhook import Delivery, DeliveryStatus, Event, Webhook
from feedmill.serve.rest.cursors import Cursor, Limit, cursor_at, cut, place_at
from feedmill.serve.rest.fields import MOST_ID, Address, Flag, PathId
from feedmill.serve.rest.parts import Reader, TheApp, Writer
from feedmill.serve.rest.problems import described

router = APIRouter(prefix="/webhooks", tags=["webhooks"])

EventName = Literal["entries.new", "feed.failing", "feed.healed"]
Events = Annotated[list[EventName], Field(min_length=1, max_length=10, description="What it is called for.")]


class NewWebhook(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: Address = Field(description="Where to; it is sent POST requests, and its redirects are not followed.")
    events: Events = ["entries.new"]


class WebhookChanges(BaseModel):
    """What is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    url: Address | None = None
    events: Events | None = None
    paused: Flag | None = Field(default=None, description="Starting it again forgets its failures.")


class WebhookShown(BaseModel):
    id: int
    url: str
    events: list[EventName]
    paused: bool = Field(description="Nothing is sent, and what happens meanwhile is not told later.")
    consecutive_failures: int = Field(description="At 50 it is paused.")
    last_success_at: datetime | None
    last_error: str | None
    created_at: datetime

    @classmethod
    def of(cls, webhook: Webhook) -> Self:
        return cls.model_validate({name: getattr(webhook, name) for name in WebhookShown.model_fields})


class WebhookMade(BaseModel):
    secret: str = Field(description="Signs what is sent; shown this once.")
    webhook: WebhookShown


class WebhookPage(BaseModel):
    items: list[WebhookShown]
    next: None = Field(default=None, description="There is one page only.")


class DeliveryShown(BaseModel):
    id: int = Field(description="What `X-Feedmill-Delivery` says: the same however often it is sent.")
    event: Event
    feed_id: int | None
    status: DeliveryStatus
    attempts: int
    next_attempt_at: datetime | None
    http_status: int | None
    last_error: str | None
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, delivery: Delivery) -> Self:
        values = {name: getattr(delivery, name) for name in cls.model_fields}
        return cls.model_validate(values | {"feed_id": delivery.feed_id or None})


class DeliveryPage(BaseModel):
    items: list[DeliveryShown]
    next: str | None


@router.get("")
async def list_webhooks(app: TheApp, who: Reader) -> WebhookPage:
    """Your webhooks; never their secrets."""
    return WebhookPage(items=[WebhookShown.of(one) for one in await app.webhooks.all(who.user.id)])


@router.post("", status_code=201)
async def create_webhook(app: TheApp, who: Writer, new: NewWebhook) -> WebhookMade:
    """Makes a webhook and shows its secret, this once."""
    made = await app.webhooks.create(who.user.id, new.url, [Event(name) for name in new.events])
    return _with_secret(made)


@router.get("/{webhook_id}", responses=described(404))
async def read_webhook(app: TheApp, who: Reader, webhook_id: PathId) -> WebhookShown:
    return WebhookShown.of(await app.webhooks.one(who.user.id, webhook_id))


@router.patch("/{webhook_id}", responses=described(404))
async def change_webhook(app: TheApp, who: Writer, webhook_id: PathId, changes: WebhookChanges) -> WebhookShown:
    events = None if changes.events is None else [Event(name) for name in changes.events]
    changed = await app.webhooks.change(who.user.id, webhook_id, changes.url, events, changes.paused)
    return WebhookShown.of(changed)


@router.delete("/{webhook_id}", status_code=204, responses=described(404))
async def delete_webhook(app: TheApp, who: Writer, webhook_id: PathId) -> None:
    """Deletes a webhook with what it was sent."""
    await app.webhooks.delete(who.user.id, webhook_id)


@router.post("/{webhook_id}/secret", responses=described(404))
async def renew_webhook_secret(app: TheApp, who: Writer, webhook_id: PathId) -> WebhookMade:
    """Makes another secret and shows it, this once; it signs from the next delivery on."""
    return _with_secret(await app.webhooks.new_secret(who.user.id, webhook_id))


@router.post("/{webhook_id}/test", status_code=202, responses=described(404))
async def test_webhook(app: TheApp, who: Writer, webhook_id: PathId) -> DeliveryShown:
    """Has an event `test` sent within seconds, also to a paused webhook; its delivery says how that went."""
    return DeliveryShown.of(await app.webhooks.test(who.user.id, webhook_id))


@router.get("/{webhook_id}/deliveries", responses=described(404))
async def list_deliveries(
    app: TheApp, who: Reader, webhook_id: PathId, limit: Limit = 50, cursor: Cursor = None
) -> DeliveryPage:
    """What was sent in the last 30 days, the last first."""
    found = await app.webhooks.deliveries(who.user.id, webhook_id, place_at(cursor, MOST_ID), limit + 1)
    page, last = cut(found, limit)
    return DeliveryPage(items=[DeliveryShown.of(one) for one in page], next=cursor_at(last.id) if last else None)


@router.post("/{webhook_id}/deliveries/{delivery_id}/redeliver", status_code=202, responses=described(404, 409))
async def redeliver(app: TheApp, who: Writer, webhook_id: PathId, delivery_id: PathId) -> DeliveryShown:
    """Has a delivery that is over sent again, under the same id. One that is still tried is 409 `still_pending`."""
    return DeliveryShown.of(await app.webhooks.redeliver(who.user.id, webhook_id, delivery_id))


def _with_secret(webhook: Webhook) -> WebhookMade:
    return WebhookMade(secret=webhook.secret, webhook=WebhookShown.of(webhook))
