"""`/positions` and `/item/n/player/m`: the audio and video files of articles, and how far they were played."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.entries.article import Article, ArticleChapter, ArticleEnclosure, read_article
from feedmill.library.entries.playback import save_positions
from feedmill.model.playback import PlaybackPosition
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.form_fields import accepts_form, matching
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form
from feedmill.serve.web.core.render_page import render_template

PLAYABLE_TYPES = ("audio", "video")
# Entry, enclosure, seconds, and when that was in milliseconds since 1970.
POSITION = matching(r"[0-9]{1,15}:[0-9]{1,3}:[0-9]{1,7}:[0-9]{1,13}")


@dataclass(frozen=True, slots=True)
class PlayableFile:
    """An audio or video file of an article, for the player; `at` is where the user left it, in seconds."""

    entry_id: int
    number: int
    title: str
    feed_title: str | None
    url: str
    kind: str
    seconds: int
    chapters: tuple[ArticleChapter, ...]
    at: int
    played_at_ms: int

    @property
    def id(self) -> str:
        return f"{self.entry_id}-{self.number}"


def playable_files(article: Article) -> list[PlayableFile]:
    return list(_playable_files(article))


def _playable_files(article: Article) -> Iterator[PlayableFile]:
    for number, file in enumerate(article.enclosures):
        kind = media_kind(file)
        if kind is not None:
            yield PlayableFile(
                article.id,
                number,
                article.title,
                article.feed_title,
                file.url,
                kind,
                round(file.seconds or 0),
                file.chapters,
                file.position.seconds if file.position else 0,
                round(file.position.played_at.timestamp() * 1000) if file.position else 0,
            )


def media_kind(file: ArticleEnclosure) -> str | None:
    """`audio` or `video`; None for a file that browsers do not play."""
    kind = (file.type or "").partition("/")[0]
    return kind if kind in PLAYABLE_TYPES else None


async def show_player(request: Request) -> Response:
    """The player of one file, which a script shows to go on after another page was loaded."""
    caller = await signed_in(request)
    app, number = the_app(request), request.path_params["number"]
    article = await read_article(app.db, app.blobs, caller.user.id, path_id(request), datetime.now(UTC))
    file = next((file for file in playable_files(article) if file.number == number), None)
    if file is None:
        raise NotFound(Message("error.no_such_enclosure"))
    return render_template(request, "entries/docked_player.html", file=file)


@accepts_form({"position": POSITION.repeated})
async def save_playback_positions(request: Request) -> Response:
    """`position=12:0:93:1771403400000` for each file; of two positions the later one is kept."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    positions = [_position(each) for each in sent.getlist("position") if isinstance(each, str)]
    await save_positions(the_app(request).db, caller.user.id, positions, datetime.now(UTC))
    return Response(status_code=204)


def _position(sent: str) -> PlaybackPosition:
    entry_id, enclosure, seconds, ms = map(int, sent.split(":"))
    return PlaybackPosition(entry_id, enclosure, seconds, datetime.fromtimestamp(ms / 1000, UTC))


routes = [
    Route("/item/{id:int}/player/{number:int}", show_player),
    Route("/positions", save_playback_positions, methods=["POST"]),
]
