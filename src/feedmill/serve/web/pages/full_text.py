"""`/item/n/full-text`: has the whole article fetched from the page that it links to."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import TooMany
from feedmill.library.full_text import NoFullText, fetch_full_text
from feedmill.serve.web.article import item_path, load_article
from feedmill.serve.web.flash import say_failed
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, render, signed_in, speech, text, the_app
from feedmill.serve.web.problems import is_partial
from feedmill.serve.web.telling import tell
from feedmill.serve.web.views import parse_view


async def fetch(request: Request) -> Response:
    """Shows the article again, whole or with the reason why not."""
    caller = await signed_in(request)
    sent = await form(request)
    app, entry_id, view = the_app(request), path_id(request), parse_view(text(sent, "in"))
    reason = ""
    try:
        await fetch_full_text(app.db, app.client, caller.user.id, entry_id, datetime.now(UTC))
    except (NoFullText, TooMany) as error:
        reason = tell(str(error), speech(request)[0])
    page = item_path(entry_id, view)
    if is_partial(request):
        article = await load_article(request, caller.user.id, entry_id, view)
        return render(request, "parts/article_alone.html", article=article, here=page, failed=reason)
    return go(page, say_failed("article.full_failed", reason=reason) if reason else None)


routes = [Route("/item/{id:int}/full-text", fetch, methods=["POST"])]
