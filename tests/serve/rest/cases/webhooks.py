from typing import Any

from feedmill.model.webhook import WebhookEvent
from tests.serve.rest.cases import Case, CaseRequest, simple_case
from tests.serve.rest.site import Person, Site

URL = "https://alice.example/hook"


def _of_hook(path: str = "", json: Any = None, secret: str | None = None) -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        hook = await site.app.webhooks.create(alice.user.id, URL, [WebhookEvent.NEW_ENTRIES])
        return CaseRequest(f"/webhooks/{hook.id}{path}", json, secret)

    return Case(prepare)


async def _all(site: Site, alice: Person) -> CaseRequest:
    await site.app.webhooks.create(alice.user.id, URL, [WebhookEvent.NEW_ENTRIES])
    return CaseRequest("/webhooks", secret=URL)


async def _a_dead_delivery(site: Site, alice: Person) -> CaseRequest:
    # Such addresses are never called, so the delivery ends at once.
    hook = await site.app.webhooks.create(alice.user.id, "http://10.0.0.1/", [WebhookEvent.NEW_ENTRIES])
    sent = await site.app.webhooks.test(alice.user.id, hook.id)
    await site.app.webhooks.deliver()
    return CaseRequest(f"/webhooks/{hook.id}/deliveries/{sent.id}/redeliver")


CASES = {
    "GET /webhooks": Case(_all, others=200),
    "POST /webhooks": simple_case("/webhooks", {"url": URL}, others=201),
    "GET /webhooks/{webhook_id}": _of_hook(secret=URL),
    "PATCH /webhooks/{webhook_id}": _of_hook(json={"paused": True}, secret=URL),
    "DELETE /webhooks/{webhook_id}": _of_hook(),
    "POST /webhooks/{webhook_id}/secret": _of_hook("/secret", secret="secret"),
    "POST /webhooks/{webhook_id}/test": _of_hook("/test"),
    "GET /webhooks/{webhook_id}/deliveries": _of_hook("/deliveries"),
    "POST /webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": Case(_a_dead_delivery),
}
