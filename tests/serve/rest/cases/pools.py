"""Pools are for admins and users with a grant: Charlie gets 404 for them, and may not change them."""

from collections.abc import Awaitable, Callable
from typing import Any

from feedmill.model.pool import PoolKind, PoolOptions
from feedmill.model.user import Actor
from feedmill.store.pools.grants import grant_access
from tests.pools.pool_rows import LEASE, NOW, add_pool
from tests.serve.rest.cases import Case, CaseRequest, simple_case
from tests.serve.rest.site import Person, Site

TITLES = ["first", "second", "third"]
AT_ONCE = {"older": 0, "look_again": 0}


def _of_group(path: str, json: Any = None, options: PoolOptions | None = None, others: int = 404) -> Case:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        await add_pool(site.app.db, TITLES, options)
        return CaseRequest(f"/pools/news{path}", json)

    return Case(prepare, others)


def _of_lease(verb: str, **more: Any) -> Callable[[Site, Person], Awaitable[CaseRequest]]:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        await add_pool(site.app.db, TITLES, LEASE)
        leased = await site.app.pools.lease("news", PoolKind.TITLES, 2)
        ids = [item.id for item in leased.items]
        return CaseRequest(f"/pools/news/titles/{verb}", {"token": leased.token, "ids": ids} | more)

    return prepare


async def _all_groups(site: Site, alice: Person) -> CaseRequest:
    await add_pool(site.app.db, TITLES, name="Alice's news")
    return CaseRequest("/pools", secret="Alice's news")


def _of_grant(granted: bool) -> Callable[[Site, Person], Awaitable[CaseRequest]]:
    async def prepare(site: Site, alice: Person) -> CaseRequest:
        group, dora = await add_pool(site.app.db, TITLES), await site.person("dora")
        if granted:
            await grant_access(site.app.db, group, dora.user, Actor(), NOW)
        return CaseRequest("/pools/news/grants/dora")

    return prepare


async def _an_item(site: Site, alice: Person) -> CaseRequest:
    await add_pool(site.app.db, TITLES)
    [item] = await site.app.pools.pop("news", PoolKind.TITLES)
    return CaseRequest(f"/pools/items/{item.id}", secret="first")


CASES = {
    "GET /pools": Case(_all_groups, others=200),
    "POST /pools": simple_case("/pools", {"name": "news"}, others=403),
    "GET /pools/{group}": _of_group(""),
    "PATCH /pools/{group}": _of_group("", {"name": "other"}, others=403),
    "DELETE /pools/{group}": _of_group("", others=403),
    "POST /pools/{group}/pause": _of_group("/pause", others=403),
    "POST /pools/{group}/resume": _of_group("/resume", others=403),
    "POST /pools/{group}/titles": _of_group("/titles", {"text": "a text"}),
    "POST /pools/{group}/contents": _of_group("/contents", {"text": "a text"}),
    "POST /pools/{group}/{kind}/pop": _of_group("/titles/pop"),
    "POST /pools/{group}/{kind}/lease": _of_group("/titles/lease", options=LEASE),
    "POST /pools/{group}/{kind}/ack": Case(_of_lease("ack")),
    "POST /pools/{group}/{kind}/nack": Case(_of_lease("nack")),
    "POST /pools/{group}/{kind}/extend": Case(_of_lease("extend", seconds=60)),
    "GET /pools/{group}/{kind}/status": _of_group("/titles/status"),
    "GET /pools/{group}/{kind}/items": _of_group("/titles/items?state=available"),
    "POST /pools/{group}/{kind}/requeue": _of_group("/titles/requeue", {}, others=403),
    "GET /pools/{group}/{kind}/lost": _of_group("/titles/lost?older=0&look_again=0"),
    "POST /pools/{group}/{kind}/lost/release": _of_group("/titles/lost/release", AT_ONCE, others=403),
    "POST /pools/{group}/{kind}/lost/settle": _of_group("/titles/lost/settle", AT_ONCE, others=403),
    "GET /pools/{group}/grants": _of_group("/grants", others=403),
    "PUT /pools/{group}/grants/{user}": Case(_of_grant(False), others=403),
    "DELETE /pools/{group}/grants/{user}": Case(_of_grant(True), others=403),
    "GET /pools/items/{item_id}": Case(_an_item),
}
