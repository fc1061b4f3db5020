"""For each route: what Alice owns and asks for, what Charlie gets for the same request.

A file a subject, each with its `CASES`: `"GET /feeds/{subscription_id}"` to a `Case`. `test_every_route.py` walks the
route table and fails for a route that stands in none of them.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tests.serve.rest.site import Person, Site


@dataclass(frozen=True)
class Asked:
    """A request for something of Alice's. `secret` is text of hers that nobody else may see."""

    path: str
    json: Any = None
    secret: str | None = None
    content: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Case:
    """`ask` prepares what is Alice's and says the request; Charlie then gets `others` (200: his own, not hers)."""

    ask: Callable[[Site, Person], Awaitable[Asked]]
    others: int = 404


def plainly(path: str, json: Any = None, others: int = 200) -> Case:
    """A case that needs nothing prepared and shows nothing that could be secret."""

    async def ask(site: Site, alice: Person) -> Asked:
        return Asked(path, json)

    return Case(ask, others)
