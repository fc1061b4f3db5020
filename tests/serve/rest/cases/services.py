from typing import Any

from feedmill.model.services.save_service import SaveService, ServiceKind
from tests.serve.rest.cases import Case, CaseRequest, simple_case
from tests.serve.rest.site import Person, Site

ADDRESS = "https://links.alice.example/"
OPTIONS = {"address": ADDRESS, "token": "t0ken"}
NEW = {"kind": "linkding", "name": "Links", "options": OPTIONS}


async def _service(site: Site, alice: Person) -> SaveService:
    return await site.app.services.create(alice.user.id, ServiceKind.LINKDING, "Links", OPTIONS)


def _of_service(path: str = "", json: Any = None, secret: str | None = None) -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        service = await _service(site, alice)
        return CaseRequest(f"/services/{service.id}{path}", json, secret)

    return Case(prepare)


async def _all(site: Site, alice: Person) -> CaseRequest:
    await _service(site, alice)
    return CaseRequest("/services", secret=ADDRESS)


async def _save(site: Site, alice: Person) -> CaseRequest:
    service = await _service(site, alice)
    return CaseRequest("/services/save", {"entry_ids": [1], "service_ids": [service.id]})


CASES = {
    "GET /services": Case(_all, others=200),
    "POST /services": simple_case("/services", NEW, others=201),
    "POST /services/save": Case(_save),
    "GET /services/{service_id}": _of_service(secret=ADDRESS),
    "PATCH /services/{service_id}": _of_service(json={"name": "Mine"}, secret=ADDRESS),
    "DELETE /services/{service_id}": _of_service(),
    "GET /services/{service_id}/saves": _of_service("/saves"),
    "POST /services/{service_id}/retry": _of_service("/retry"),
}
