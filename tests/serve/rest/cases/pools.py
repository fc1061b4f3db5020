"""Pools belong to nobody: whoever has the scope takes from them, an admin makes and changes them."""

from collections.abc import Awaitable, Callable
from typing import Any

from feedmill.model.pool import Kind, PoolOptions
from tests.pools.rows import LEASE, add_pool
from tests.serve.rest.cases import Asked, Case, plainly
from tests.serve.rest.site import Person, Site

TITLES = ["first", "second", "third"]
AT_ONCE = {"older": 0, "look_again": 0}


def _of_group(path: str, json: Any = None, options: PoolOptions | None = None, others: int = 200) -> Case:
    async def ask(site: Site, alice: Person) -> Asked:
        await add_pool(site.app.db, TITLES, options)
        return Asked(f"/pools/news{path}", json)

    return Case(ask, others)


def _of_lease(verb: str, **more: Any) -> Callable[[Site, Person], Awaitable[Asked]]:
    async def ask(site: Site, alice: Person) -> Asked:
        await add_pool(site.app.db, TITLES, LEASE)
        leased = await site.app.pools.lease("news", Kind.TITLES, 2)
        ids = [item.id for item in leased.items]
        return Asked(f"/pools/news/titles/{verb}", {"token": leased.token, "ids": ids} | more)

    return ask


async def _an_item(site: Site, alice: Person) -> Asked:
    await add_pool(site.app.db, TITLES)
    [item] = await site.app.pools.pop("news", Kind.TITLES)
    return Asked(f"/pools/items/{item.id}")


CASES = {
    "GET /pools": plainly("/pools"),
    "POST /pools": plainly("/pools", {"name": "news"}, others=403),
    "GET /pools/{group}": _of_group(""),
    "PATCH /pools/{group}": _of_group("", {"name": "other"}, others=403),
    "DELETE /pools/{group}": _of_group("", others=403),
    "POST /pools/{group}/pause": _of_group("/pause", others=403),
    "POST /pools/{group}/resume": _of_group("/resume", others=403),
    "POST /pools/{group}/{kind}/pop": _of_group("/titles/pop"),
    "POST /pools/{group}/{kind}/lease": _of_group("/titles/lease", options=LEASE),
    "POST /pools/{group}/{kind}/ack": Case(_of_lease("ack"), others=200),
    "POST /pools/{group}/{kind}/nack": Case(_of_lease("nack"), others=200),
    "POST /pools/{group}/{kind}/extend": Case(_of_lease("extend", seconds=60), others=200),
    "GET /pools/{group}/{kind}/status": _of_group("/titles/status"),
    "GET /pools/{group}/{kind}/items": _of_group("/titles/items?state=available"),
    "POST /pools/{group}/{kind}/requeue": _of_group("/titles/requeue", {}),
    "GET /pools/{group}/{kind}/lost": _of_group("/titles/lost?older=0&look_again=0"),
    "POST /pools/{group}/{kind}/lost/release": _of_group("/titles/lost/release", AT_ONCE, others=403),
    "POST /pools/{group}/{kind}/lost/settle": _of_group("/titles/lost/settle", AT_ONCE, others=403),
    "GET /pools/items/{item_id}": Case(_an_item, others=200),
}
