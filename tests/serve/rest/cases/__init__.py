"""For each route: a request for something of Alice's, and the status that Charlie gets for the same request.

One module per noun, with its `CASES`: `"GET /feeds/{subscription_id}"` to a `Case`. `test_every_route.py` walks
the route table and fails for a route without a case.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tests.serve.rest.site import Person, Site


@dataclass(frozen=True)
class CaseRequest:
    """A request for something of Alice's. `secret` is text of hers that no other user may see."""

    path: str
    json: Any = None
    secret: str | None = None
    content: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Case:
    """`prepare` creates what is Alice's and returns the request; Charlie gets `others` (200: his own data)."""

    prepare: Callable[[Site, Person], Awaitable[CaseRequest]]
    others: int = 404


def simple_case(path: str, json: Any = None, others: int = 200) -> Case:
    """A case that needs no preparation and whose response has no secret."""

    async def prepare(site: Site, alice: Person) -> CaseRequest:
        return CaseRequest(path, json)

    return Case(prepare, others)
