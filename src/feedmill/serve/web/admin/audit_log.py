"""`/admin/audit`: what administrators did."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.cursors import cursor_at
from feedmill.model.max_id import MAX_ID
from feedmill.serve.http.paginate import decode_cursor, query_cursor, split_page
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in_admin
from feedmill.serve.web.core.render_page import render_page
from feedmill.store.admin.audit_log import audit_log_page

AUDIT_LOG_PATH = "/admin/audit"
ROWS = 50


async def show_audit_log(request: Request) -> Response:
    await signed_in_admin(request)
    page, last = split_page(
        await audit_log_page(the_app(request).db, decode_cursor(query_cursor(request), MAX_ID - 1), ROWS + 1), ROWS
    )
    more = f"{AUDIT_LOG_PATH}?cursor={cursor_at(last.id)}" if last else None
    return await render_page(request, "admin/audit_log.html", active="/admin", lines=page, more=more)


routes = [Route(AUDIT_LOG_PATH, show_audit_log)]
