"""Prepares an article for the templates: safe HTML without remote images, neighbours, attachments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request

from feedmill.app import App
from feedmill.errors import NotFound
from feedmill.html.attached_media import MediaFile, add_attached_media
from feedmill.html.frame_cards import find_frames, show_frame_cards
from feedmill.html.hide_remote_images import ArticleImages, RemoteImageReplacer
from feedmill.html.scroll_containers import wrap_wide_elements
from feedmill.i18n.translator import Translator, translator
from feedmill.library.archive.archived_images import image_failures, image_urls
from feedmill.library.entries.article import Article, ArticleEnclosure, read_article
from feedmill.library.entries.labels import labels_of_user
from feedmill.library.filters.effects import effects_of_entry
from feedmill.model.entry_marks import UserLabel
from feedmill.model.filters.filter_history import FilterEffect
from feedmill.model.hosts import host_of
from feedmill.model.services.save_service import SaveService, ServiceSave
from feedmill.model.stories.story_copy import StoryCopy
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.serve.http.security_headers import ALLOW_REMOTE_IMAGES
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.localization import language_of
from feedmill.serve.web.entries.article_drawings import drawing_path
from feedmill.serve.web.entries.article_images import failure_text, image_path
from feedmill.serve.web.entries.article_videos import card_pictures
from feedmill.serve.web.entries.list_filter import ListFilter, list_filter_of
from feedmill.serve.web.entries.list_views import UNREAD_VIEW, OpenedView, ViewAddress, open_view
from feedmill.serve.web.entries.playback import PlayableFile, playable_files
from feedmill.serve.web.filters.title_words import title_words

# Frames of an article whose cards have a picture.
MAX_PICTURES = 100


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that comes with an article."""

    url: str
    name: str
    bytes: int | None


@dataclass(frozen=True, slots=True)
class ArticleService:
    """A service of the reader; `save` if the article was saved to it, or waits for it."""

    service: SaveService
    save: ServiceSave | None


@dataclass(frozen=True, slots=True)
class ArticleView:
    """An article in a view.

    `hidden`: so many of its pictures have placeholders. `is_full`: this is the text of the page that it links to.
    `labels` and `services` are all of the reader's, `chosen` is how they see the view, `effects` what their filters
    did with it. `copies` are the same article in other feeds.
    """

    entry: Article
    view: ViewAddress
    html: Markup
    hidden: int
    is_full: bool
    attached: list[Attachment]
    labels: list[UserLabel]
    chosen: ListFilter | None = None
    services: tuple[ArticleService, ...] = ()
    effects: Sequence[FilterEffect] = ()
    copies: Sequence[StoryCopy] = ()

    @property
    def title_words(self) -> list[str]:
        """The words of the title that can be muted or followed."""
        return title_words(self.entry.title)

    @property
    def site(self) -> str:
        """The host of the article's page; empty if it has none."""
        return host_of(self.entry.link or "").removeprefix("www.")

    @property
    def playable(self) -> list[PlayableFile]:
        return playable_files(self.entry)

    @property
    def previous(self) -> str | None:
        return self._item(self.entry.previous_id)

    @property
    def next(self) -> str | None:
        return self._item(self.entry.next_id)

    def copy_path(self, copy: StoryCopy) -> str:
        return item_path(copy.id, self.view, self.chosen)

    def _item(self, id: int | None) -> str | None:
        return None if id is None else item_path(id, self.view, self.chosen)


def item_path(entry_id: int, view: ViewAddress, chosen: ListFilter | None = None) -> str:
    """The address of an article that is read in a view, with what was chosen there unless it is the usual."""
    path, chosen = f"/item/{entry_id}?in={quote(view.path)}", chosen or view.usual
    if view.is_filtered and chosen.show != view.usual.show:
        path += f"&show={chosen.show}"
    return path if chosen.order == view.usual.order else f"{path}&order={chosen.order}"


async def load_article(request: Request, user_id: int, entry_id: int, view: ViewAddress) -> ArticleView:
    """The article with its neighbours in the view; raises `NotFound` if the user may not see it.

    The full text is shown if it was fetched, unless the query has `text=feed`.
    """
    app = the_app(request)
    opened = await _open_view_or_unread(request, user_id, view)
    chosen = list_filter_of(request, opened.address.name, opened.address.usual)
    within = opened.wanted(chosen)
    article = await read_article(
        app.db, app.blobs, user_id, entry_id, datetime.now(UTC), within=within, drawing_url=drawing_path
    )
    shown = await article_view(request, article, opened.address, await labels_of_user(app.db, user_id))
    services, effects = await _services(app, user_id, entry_id), await effects_of_entry(app.db, user_id, entry_id)
    copies = article.also_in if opened.stories_once else ()
    return replace(shown, chosen=chosen, services=services, effects=effects, copies=copies)


async def _services(app: App, user_id: int, entry_id: int) -> tuple[ArticleService, ...]:
    every = await app.services.all(user_id)
    saves = {save.service_id: save for save in await app.services.saves_of_entry(user_id, entry_id)} if every else {}
    return tuple(ArticleService(each, saves.get(each.id)) for each in every)


async def _open_view_or_unread(request: Request, user_id: int, view: ViewAddress) -> OpenedView:
    """The view; the unread view if it no longer exists, because an article outlives the view that it was found in."""
    try:
        return await open_view(request, user_id, view)
    except NotFound:
        return OpenedView(UNREAD_VIEW)


async def article_view(
    request: Request, article: Article, view: ViewAddress, labels: Sequence[UserLabel] = ()
) -> ArticleView:
    t = translator(language_of(request))
    archived = (await image_urls(the_app(request).db, the_app(request).blobs, [article.id]))[article.id]
    hiding = RemoteImageReplacer(await _images(request, article.id, archived, t), t)
    full_html = None if request.query_params.get("text") == "feed" else article.full_html
    html = full_html or article.html
    files = [MediaFile(file.url, file.type) for file in article.enclosures]
    text = await run_in_thread_if_large(
        len(html), add_attached_media, html, article.link, article.title, files, archived, t("article.absent_image")
    )
    frames = await run_in_thread_if_large(len(html), lambda: list(islice(find_frames(text.html), MAX_PICTURES)))
    pictures = await card_pictures(request, article.id, (frame.player for frame in frames if frame.player))

    def lay_out() -> str:
        shown = text.html if request.scope.get(ALLOW_REMOTE_IMAGES) else hiding.hide(text.html)
        return wrap_wide_elements(show_frame_cards(shown, pictures, t), t)

    safe = await run_in_thread_if_large(len(html), lay_out)
    attached = [_attachment(each) for each in article.enclosures if each.url not in text.shown_urls]
    return ArticleView(
        entry=article,
        view=view,
        html=Markup(safe),  # noqa: S704 (the library made it safe)
        hidden=hiding.hidden,
        is_full=full_html is not None,
        attached=attached,
        labels=list(labels),
    )


async def _images(request: Request, entry_id: int, archived: Mapping[str, str], t: Translator) -> ArticleImages:
    failures = await image_failures(the_app(request).db, entry_id)
    return ArticleImages(
        frozenset(archived.values()),
        {url: failure_text(reason, t) for url, reason in failures.items()},
        partial(image_path, request, entry_id),
    )


def _attachment(file: ArticleEnclosure) -> Attachment:
    name = file.url.partition("?")[0].rstrip("/").rpartition("/")[2] or file.url
    return Attachment(file.url, name, file.length)
