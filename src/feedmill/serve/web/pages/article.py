"""`/item/n`: an article, as a page or as what the pane shows."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.archives import find_source
from feedmill.library.marking import mark_one
from feedmill.model.reading import Marks
from feedmill.serve.web.article import load_article
from feedmill.serve.web.flash import say
from feedmill.serve.web.habits import habits_of
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.look import look_of
from feedmill.serve.web.page import go, render, show, signed_in, the_app
from feedmill.serve.web.problems import is_partial
from feedmill.serve.web.safety import ORIGINALS
from feedmill.serve.web.views import parse_view

READ = Marks(read=True)


async def item(request: Request) -> Response:
    """Opening the page marks the article read; in the pane the script does, through its queue."""
    caller = await signed_in(request)
    app = the_app(request)
    view = parse_view(request.query_params.get("in", ""))
    if _wants_originals(request):
        request.scope[ORIGINALS] = True
    article = await load_article(request, caller.user.id, path_id(request), view)
    if is_partial(request):
        return render(request, "parts/article_pane.html", article=article)
    if article.entry.unread and _was_opened(request) and habits_of(request).marks != "manual":
        await mark_one(app.db, caller.user.id, article.entry.id, READ, datetime.now(UTC))
    return await show(request, "article.html", article=article, active=article.view.path)


async def source(request: Request) -> Response:
    """To the answer of the feed that brought the article."""
    caller = await signed_in(request)
    feed, answer = await find_source(the_app(request).db, caller.user.id, path_id(request))
    if answer is None:
        return go(f"/feed/{feed}/archive", say("article.no_source"))
    return go(f"/feed/{feed}/archive/{answer.id}")


def _wants_originals(request: Request) -> bool:
    return look_of(request).originals == "yes" or request.query_params.get("originals") == "yes"


def _was_opened(request: Request) -> bool:
    """Not fetched ahead, and not by another site's page."""
    ahead = "prefetch" in request.headers.get("sec-purpose", "")
    return not ahead and request.headers.get("sec-fetch-site") not in ("cross-site", "same-site")


routes = [Route("/item/{id:int}", item), Route("/item/{id:int}/source", source)]
