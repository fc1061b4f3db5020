"""`/api/webhooks`: creates, changes, tests and deletes webhooks, and lists their deliveries."""

from datetime import datetime
from typing import Annotated, Literal, Self

from fastapi import APIRouter
from pydantic import BaseModel, Field

from feedmill.api_schemas.response_body import MessageText
from feedmill.library.cursors import cursor_at
from feedmill.model.max_id import MAX_ID
from feedmill.model.webhook import Delivery, DeliveryStatus, Webhook, WebhookEvent
from feedmill.serve.http.paginate import decode_cursor, split_page
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId, StrictBool, UrlText
from feedmill.serve.rest.core.page_parameters import Cursor, Limit

router = APIRouter(prefix="/webhooks", tags=["webhooks"])

EventName = Literal["entries.new", "entries.matched", "feed.failing", "feed.healed"]
Events = Annotated[list[EventName], Field(min_length=1, max_length=10, description="The events that it is called for.")]


class NewWebhook(RequestBody):
    url: UrlText = Field(description="The URL to call with POST requests; its redirects are not followed.")
    events: Events = Field(default=["entries.new"])


class WebhookChanges(RequestBody):
    """Fields that are left out are not changed."""

    url: UrlText | None = None
    events: Events | None = None
    paused: StrictBool | None = Field(default=None, description="Resuming it resets its failure count.")


class WebhookResponse(BaseModel):
    id: int
    url: str
    events: list[EventName]
    paused: bool = Field(description="Nothing is sent, and events in the meantime are not sent later.")
    consecutive_failures: int = Field(description="At 50 the webhook is paused.")
    last_success_at: datetime | None
    last_error: MessageText | None
    created_at: datetime

    @classmethod
    def of(cls, webhook: Webhook) -> Self:
        return cls.model_validate({name: getattr(webhook, name) for name in WebhookResponse.model_fields})


class CreatedWebhook(BaseModel):
    secret: str = Field(description="The secret that signs requests; shown only once.")
    webhook: WebhookResponse


class WebhookPage(BaseModel):
    items: list[WebhookResponse]
    next: None = Field(default=None, description="Always null: there is one page.")


class DeliveryResponse(BaseModel):
    id: int = Field(description="The id in `X-Feedmill-Delivery`: the same for every attempt.")
    event: WebhookEvent
    feed_id: int | None
    status: DeliveryStatus
    attempts: int
    next_attempt_at: datetime | None
    http_status: int | None
    last_error: MessageText | None
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, delivery: Delivery) -> Self:
        values = {name: getattr(delivery, name) for name in cls.model_fields}
        return cls.model_validate(values | {"feed_id": delivery.feed_id or None})


class DeliveryPage(BaseModel):
    items: list[DeliveryResponse]
    next: str | None


@router.get("")
async def list_webhooks(app: TheApp, who: Reader) -> WebhookPage:
    """Your webhooks; never their secrets."""
    return WebhookPage(items=[WebhookResponse.of(one) for one in await app.webhooks.all(who.user.id)])


@router.post("", status_code=201)
async def create_webhook(app: TheApp, who: Writer, new: NewWebhook) -> CreatedWebhook:
    """Creates a webhook and shows its secret, only once."""
    made = await app.webhooks.create(who.user.id, new.url, [WebhookEvent(name) for name in new.events])
    return _with_secret(made)


@router.get("/{webhook_id}", responses=problem_responses(404))
async def read_webhook(app: TheApp, who: Reader, webhook_id: PathId) -> WebhookResponse:
    return WebhookResponse.of(await app.webhooks.one(who.user.id, webhook_id))


@router.patch("/{webhook_id}", responses=problem_responses(404))
async def change_webhook(app: TheApp, who: Writer, webhook_id: PathId, changes: WebhookChanges) -> WebhookResponse:
    events = None if changes.events is None else [WebhookEvent(name) for name in changes.events]
    changed = await app.webhooks.change(who.user.id, webhook_id, changes.url, events, changes.paused)
    return WebhookResponse.of(changed)


@router.delete("/{webhook_id}", status_code=204, responses=problem_responses(404))
async def delete_webhook(app: TheApp, who: Writer, webhook_id: PathId) -> None:
    """Deletes a webhook with the list of its deliveries."""
    await app.webhooks.delete(who.user.id, webhook_id)


@router.post("/{webhook_id}/secret", responses=problem_responses(404))
async def renew_webhook_secret(app: TheApp, who: Writer, webhook_id: PathId) -> CreatedWebhook:
    """Creates another secret and shows it only once; it is used from the next delivery on."""
    return _with_secret(await app.webhooks.new_secret(who.user.id, webhook_id))


@router.post("/{webhook_id}/test", status_code=202, responses=problem_responses(404))
async def test_webhook(app: TheApp, who: Writer, webhook_id: PathId) -> DeliveryResponse:
    """Sends an event `test` within seconds, also to a paused webhook; its delivery has the result."""
    return DeliveryResponse.of(await app.webhooks.test(who.user.id, webhook_id))


@router.get("/{webhook_id}/deliveries", responses=problem_responses(404))
async def list_deliveries(
    app: TheApp, who: Reader, webhook_id: PathId, limit: Limit = 50, cursor: Cursor = None
) -> DeliveryPage:
    """The deliveries of the last 30 days, newest first."""
    found = await app.webhooks.deliveries(who.user.id, webhook_id, decode_cursor(cursor, MAX_ID), limit + 1)
    page, last = split_page(found, limit)
    return DeliveryPage(items=[DeliveryResponse.of(one) for one in page], next=cursor_at(last.id) if last else None)


@router.post("/{webhook_id}/deliveries/{delivery_id}/redeliver", status_code=202, responses=problem_responses(404, 409))
async def redeliver(app: TheApp, who: Writer, webhook_id: PathId, delivery_id: PathId) -> DeliveryResponse:
    """Sends a finished delivery again, with the same id. One that is still being retried is 409 `still_pending`."""
    return DeliveryResponse.of(await app.webhooks.redeliver(who.user.id, webhook_id, delivery_id))


def _with_secret(webhook: Webhook) -> CreatedWebhook:
    return CreatedWebhook(secret=webhook.secret, webhook=WebhookResponse.of(webhook))
