"""`/item/n`: shows an article as a page or in the reading pane."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.archive.raw_bodies import find_raw_body_of_entry
from feedmill.library.entries.marks import apply_marks_to_entry
from feedmill.model.entry_marks import EntryMarks
from feedmill.serve.http.security_headers import ALLOW_REMOTE_IMAGES
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.appearance import appearance_of
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.preferences import shows_stories_once, user_preferences_of
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.entries.article_view import load_article
from feedmill.serve.web.entries.list_views import VIEW_FIELD, view_or_unread
from feedmill.serve.web.entries.lists import render_list_around


async def show_article(request: Request) -> Response:
    """The article beside the list that it was opened from (`in`), or alone.

    Opening the page marks the article as read; in the reading pane the script does.
    """
    caller = await signed_in(request)
    app = the_app(request)
    path = request.query_params.get("in", "")
    if _wants_originals(request):
        request.scope[ALLOW_REMOTE_IMAGES] = True
    article = await load_article(request, caller.user.id, path_id(request), view_or_unread(path))
    if is_fragment_request(request):
        return render_template(request, "entries/article_pane.html", article=article)
    if article.entry.unread and _was_opened(request) and user_preferences_of(request).marks != "manual":
        marks = EntryMarks(read=True, whole_stories=shows_stories_once(request))
        await apply_marks_to_entry(app.db, caller.user.id, article.entry.id, marks, datetime.now(UTC))
    if VIEW_FIELD.fits(path):
        return await render_list_around(request, caller.user, article)
    return await render_page(request, "entries/article_page.html", article=article, active=article.view.path)


async def show_source(request: Request) -> Response:
    """Redirects to the raw body that contained the article."""
    caller = await signed_in(request)
    feed, raw_body = await find_raw_body_of_entry(the_app(request).db, caller.user.id, path_id(request))
    if raw_body is None:
        return redirect(f"/feed/{feed}/archive", flash_success("article.no_source"))
    return redirect(f"/feed/{feed}/archive/{raw_body.id}")


def _wants_originals(request: Request) -> bool:
    return appearance_of(request).originals == "yes" or request.query_params.get("originals") == "yes"


def _was_opened(request: Request) -> bool:
    """Whether a person opened it: not a prefetch, and not a request from another site's page."""
    ahead = "prefetch" in request.headers.get("sec-purpose", "")
    return not ahead and request.headers.get("sec-fetch-site") not in ("cross-site", "same-site")


routes = [Route("/item/{id:int}", show_article), Route("/item/{id:int}/source", show_source)]
