"""`/starters`: a few feeds to begin with. None is chosen by us, and none is asked for before a person chooses it."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.folders import ensure_folders
from feedmill.library.starters import TOPICS
from feedmill.library.subscribe import Wish
from feedmill.serve.web.page import form, show, signed_in, speech, the_app
from feedmill.serve.web.pages.added import taken


async def offer(request: Request) -> Response:
    await signed_in(request)
    return await _shown(request)


async def add(request: Request) -> Response:
    """Subscribes to what was ticked, each topic in a folder of its own."""
    caller = await signed_in(request)
    sent = await form(request)
    chosen = {each for each in sent.getlist("feed") if isinstance(each, str)}
    topics = [topic for topic in TOPICS if chosen & set(topic.urls)]
    if not topics:
        return await _shown(request, "starters.none_chosen", 422)
    t, _ = speech(request)
    names = {topic.key: (t(f"starters.{topic.key}"),) for topic in topics}
    folders = await ensure_folders(the_app(request).db, caller.user.id, names.values())
    return await taken(request, caller.user, [
        Wish(url, folder_ids=(folders[names[topic.key]],)) for topic in topics for url in topic.urls if url in chosen
    ])  # fmt: skip


async def _shown(request: Request, wrong: str = "", status: int = 200) -> Response:
    return await show(request, "starters.html", status, topics=TOPICS, wrong=wrong)


routes = [Route("/starters", offer, methods=["GET"]), Route("/starters", add, methods=["POST"])]
