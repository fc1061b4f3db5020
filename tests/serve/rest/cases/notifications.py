from datetime import timedelta
from typing import Any

from feedmill.model.notifications.notification_target import NotificationEvent, TargetSettings
from tests.serve.rest.cases import Case, CaseRequest, simple_case
from tests.serve.rest.site import Person, Site

NAME = "phone of alice"
SETTINGS = TargetSettings(NAME, (NotificationEvent.FEED_FAILING,), (), timedelta(minutes=5))
NEW = {"name": "phone", "url": "ntfys://ntfy.sh/topic"}
BROWSER = {
    "name": "Firefox",
    "endpoint": "https://push.example/alice",
    "p256dh": "BLd_Ghxs-T_G5RVc7BQmHLnjExi9yGaV_j7RikmXfIEVgFhPyvdRNZP5JqMvG6vkEaix4oW9p8FQCronTocdxp4",
    "auth": "AAECAwQFBgcICQoLDA0ODw",
}


def _of_target(path: str = "", json: Any = None, secret: str | None = None) -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        target = await site.app.notifications.create(alice.user.id, NEW["url"], SETTINGS)
        return CaseRequest(f"/notifications/{target.id}{path}", json, secret)

    return Case(prepare)


async def _all(site: Site, alice: Person) -> CaseRequest:
    await site.app.notifications.create(alice.user.id, NEW["url"], SETTINGS)
    return CaseRequest("/notifications", secret=NAME)


CASES = {
    "GET /notifications": Case(_all, others=200),
    "POST /notifications": simple_case("/notifications", NEW, others=201),
    "GET /notifications/browser-key": simple_case("/notifications/browser-key", others=200),
    "POST /notifications/browsers": simple_case("/notifications/browsers", BROWSER, others=201),
    "GET /notifications/{target_id}": _of_target(secret=NAME),
    "PATCH /notifications/{target_id}": _of_target(json={"paused": True}, secret=NAME),
    "DELETE /notifications/{target_id}": _of_target(),
    "POST /notifications/{target_id}/test": _of_target("/test", secret=NAME),
}
