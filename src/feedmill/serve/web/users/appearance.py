"""`/appearance`: changes theme, language and typography of this device."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.serve.web.core.appearance import APPEARANCE_VALUES, appearance_of, save_appearance
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import CHECKBOX, NEXT_PATH, accepts_form, one_of
from feedmill.serve.web.core.read_form import checked_form
from feedmill.serve.web.core.redirects import local_path, redirect
from feedmill.serve.web.core.render_page import render_page


async def show_appearance(request: Request) -> Response:
    await signed_in(request)
    return await render_page(request, "users/appearance.html")


@accepts_form(
    {
        **{name: one_of(*values).optional for name, values in APPEARANCE_VALUES.items()},
        "next": NEXT_PATH,
        "quiet": CHECKBOX,
    }
)
async def change_appearance(request: Request) -> Response:
    await signed_in(request)
    sent = await checked_form(request)
    values = {name: value for name, value in sent.items() if isinstance(value, str)}
    response = redirect(
        local_path(sent.get("next"), "/appearance"), None if sent.get("quiet") else flash_success("appearance.kept")
    )
    save_appearance(request, response, appearance_of(request).changed(values))
    return response


routes = [
    Route("/appearance", show_appearance, methods=["GET"]),
    Route("/appearance", change_appearance, methods=["POST"]),
]
