"""`/starters`: suggests feeds by topic and subscribes to the chosen ones."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.feeds.starter_feeds import TOPICS
from feedmill.library.subscriptions.folders import ensure_folders
from feedmill.library.subscriptions.subscribe import SubscribeRequest
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.form_fields import FormField, accepts_form
from feedmill.serve.web.core.localization import translator_and_dates
from feedmill.serve.web.core.read_form import checked_form
from feedmill.serve.web.core.render_page import render_page
from feedmill.serve.web.subscriptions.add_feeds import subscribe_to_all


async def show_starter_feeds(request: Request) -> Response:
    await signed_in(request)
    return await _shown(request)


@accepts_form({"feed": FormField(lambda url: any(url in topic.urls for topic in TOPICS)).repeated})
async def add_starter_feeds(request: Request) -> Response:
    """Subscribes to the ticked feeds, with a folder for each topic."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    chosen = {each for each in sent.getlist("feed") if isinstance(each, str)}
    topics = [topic for topic in TOPICS if chosen & set(topic.urls)]
    if not topics:
        return await _shown(request, "starter_feeds.none_chosen", 422)
    t, _ = translator_and_dates(request)
    names = {topic.key: (t(f"starter_feeds.{topic.key}"),) for topic in topics}
    folders = await ensure_folders(the_app(request).db, caller.user.id, names.values())
    return await subscribe_to_all(
        request,
        caller.user,
        [
            SubscribeRequest(url, folder_ids=(folders[names[topic.key]],))
            for topic in topics
            for url in topic.urls
            if url in chosen
        ],
    )


async def _shown(request: Request, wrong: str = "", status: int = 200) -> Response:
    return await render_page(request, "subscriptions/starter_feeds.html", status, topics=TOPICS, wrong=wrong)


routes = [
    Route("/starters", show_starter_feeds, methods=["GET"]),
    Route("/starters", add_starter_feeds, methods=["POST"]),
]
