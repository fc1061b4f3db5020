"""`/keys`: what the keyboard does. The same page is what `?` opens."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.serve.web.page import render, show, signed_in
from feedmill.serve.web.problems import is_partial

# Sections of what is done (its words are `keys.<name>`) and the keys that do it.
KEYS: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...] = (
    (
        "moving",
        (
            ("next", ("j",)), ("previous", ("k",)), ("down", ("n",)), ("up", ("p",)), ("next_unread", ("N",)),
            ("open", ("o", "Enter")), ("page", ("Space",)), ("top", ("g g",)), ("bottom", ("G",)), ("close", ("Esc",)),
        ),
    ),
    (
        "marking",
        (
            ("read", ("m",)), ("read_back", ("M",)), ("star", ("s", "f")), ("later", ("l",)), ("labels", ("t",)),
            ("original", ("v",)), ("original_here", ("V",)), ("select", ("x",)), ("select_to", ("X",)),
            ("full", ("d",)), ("comments", ("c",)), ("above", ("Y",)), ("below", ("B",)), ("all_read", ("A",)),
        ),
    ),
    (
        "going",
        (
            ("unread", ("g u",)), ("starred", ("g b",)), ("laters", ("g l",)), ("all", ("g a",)), ("history", ("g h",)),
            ("feeds", ("g f",)), ("settings", ("g s",)), ("next_feed", ("J",)), ("previous_feed", ("K",)),
        ),
    ),
    (
        "more",
        (
            ("search", ("/",)), ("add", ("+",)), ("refresh", ("r",)), ("refresh_all", ("R",)),
            ("density", ("1", "2", "3", "4")), ("help", ("?",)),
        ),
    ),
)  # fmt: skip


async def keys(request: Request) -> Response:
    await signed_in(request)
    if is_partial(request):
        return render(request, "parts/keys.html", sections=KEYS)
    return await show(request, "keys.html", sections=KEYS)


routes = [Route("/keys", keys)]
