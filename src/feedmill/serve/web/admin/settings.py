"""`/admin/settings`: the effective settings and where each comes from."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.admin.effective_settings import effective_settings
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in_admin
from feedmill.serve.web.core.render_page import render_page


async def show_settings(request: Request) -> Response:
    await signed_in_admin(request)
    return await render_page(
        request, "admin/settings.html", active="/admin", settings=effective_settings(the_app(request).settings)
    )


routes = [Route("/admin/settings", show_settings)]
