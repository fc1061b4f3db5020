"""Which entries a list shows and in which order, from the query or remembered in a cookie."""

import re
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response

from feedmill.model.entry_lists import EntryOrder

VIEWS_COOKIE = "feedmill_views"
A_YEAR = 365 * 86400
MAX_REMEMBERED = 60
SHOW_VALUES = ("unread", "all")

_REMEMBERED_FILTER = re.compile(r"([a-z]+(?:/[0-9]{1,16})?)_(unread|all)_(newest|oldest)")


@dataclass(frozen=True, slots=True)
class ListFilter:
    """`show` applies to folders, feeds and labels; other views ignore it."""

    show: str = "unread"
    order: EntryOrder = EntryOrder.NEWEST


def list_filter_of(request: Request, view: str, otherwise: ListFilter) -> ListFilter:
    kept = _remembered_filters(request).get(view, otherwise)
    show, order = request.query_params.get("show"), request.query_params.get("order")
    if show in SHOW_VALUES:
        kept = replace(kept, show=show)
    return replace(kept, order=EntryOrder(order)) if order in list(EntryOrder) else kept


def remember_list_filter(request: Request, response: Response, view: str, chosen: ListFilter) -> None:
    """Remembers the filter of a view in a cookie, for the views that were changed last."""
    kept = _remembered_filters(request)
    if kept.pop(view, None) == chosen or not {"show", "order"} & request.query_params.keys():
        return
    views = [*list(kept.items())[1 - MAX_REMEMBERED :], (view, chosen)]
    packed = ".".join(f"{name}_{each.show}_{each.order}" for name, each in views)
    response.set_cookie(VIEWS_COOKIE, packed, A_YEAR, httponly=True, samesite="lax")


def _remembered_filters(request: Request) -> dict[str, ListFilter]:
    read = (_REMEMBERED_FILTER.fullmatch(part) for part in request.cookies.get(VIEWS_COOKIE, "").split("."))
    return {found[1]: ListFilter(found[2], EntryOrder(found[3])) for found in read if found}
