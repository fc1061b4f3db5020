"""`/item/n/full-text`: fetches the full text of an entry and shows it."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import LimitExceeded
from feedmill.library.entries.full_text import NoFullText, fetch_full_text
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import flash_error
from feedmill.serve.web.core.form_fields import accepts_form
from feedmill.serve.web.core.localization import translator_and_dates
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_template
from feedmill.serve.web.entries.article_view import item_path, load_article
from feedmill.serve.web.entries.list_views import VIEW_FIELD, view_or_unread


@accepts_form({"in": VIEW_FIELD.or_empty.optional})
async def load_full_text(request: Request) -> Response:
    """Fetches the full text and shows the article with it, or with the reason why it could not be fetched."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    app, entry_id, view = the_app(request), path_id(request), view_or_unread(form_text(sent, "in"))
    reason = ""
    try:
        await fetch_full_text(app.db, app.client, caller.user.id, entry_id, datetime.now(UTC))
    except (NoFullText, LimitExceeded) as error:
        reason = translator_and_dates(request)[0].render(error.message)
    page = item_path(entry_id, view)
    if is_fragment_request(request):
        article = await load_article(request, caller.user.id, entry_id, view)
        return render_template(request, "entries/article_text.html", article=article, here=page, failed=reason)
    return redirect(page, flash_error("article.full_failed", reason=reason) if reason else None)


routes = [Route("/item/{id:int}/full-text", load_full_text, methods=["POST"])]
