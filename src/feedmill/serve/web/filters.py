"""What a view shows and in which order: the address says it, else what this device remembers of the view."""

import re
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response

from feedmill.model.reading import Order

COOKIE = "feedmill_views"
A_YEAR = 365 * 86400
MOST = 60
SHOWN = ("unread", "all")

_KEPT = re.compile(r"([a-z]+(?:/[0-9]{1,16})?)_(unread|all)_(newest|oldest)")


@dataclass(frozen=True, slots=True)
class Filter:
    """`show` matters to folders, feeds and labels; other views are what their name says."""

    show: str = "unread"
    order: Order = Order.NEWEST


def filter_of(request: Request, view: str, otherwise: Filter) -> Filter:
    kept = _kept(request).get(view, otherwise)
    show, order = request.query_params.get("show"), request.query_params.get("order")
    if show in SHOWN:
        kept = replace(kept, show=show)
    return replace(kept, order=Order(order)) if order in list(Order) else kept


def keep_filter(request: Request, response: Response, view: str, chosen: Filter) -> None:
    """Remembers what the address of a view says, for the views that were changed last."""
    kept = _kept(request)
    if kept.pop(view, None) == chosen or not {"show", "order"} & request.query_params.keys():
        return
    views = [*list(kept.items())[1 - MOST :], (view, chosen)]
    packed = ".".join(f"{name}_{each.show}_{each.order}" for name, each in views)
    response.set_cookie(COOKIE, packed, A_YEAR, httponly=True, samesite="lax")


def _kept(request: Request) -> dict[str, Filter]:
    read = (_KEPT.fullmatch(part) for part in request.cookies.get(COOKIE, "").split("."))
    return {found[1]: Filter(found[2], Order(found[3])) for found in read if found}
