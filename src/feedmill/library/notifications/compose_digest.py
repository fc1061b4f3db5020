"""Writes a digest: what is new by folder and feed, as text and as HTML for mail."""

from collections.abc import Mapping, Sequence
from html import escape

from feedmill.archive.blobs import Blobs
from feedmill.html.plain_text import cut_text
from feedmill.i18n.messages import Message
from feedmill.i18n.translator import Translator
from feedmill.library.entries.list_entries import EntrySummary, entry_summaries
from feedmill.library.notifications.digest_pictures import digest_pictures
from feedmill.library.subscriptions.folders import folders_of_user
from feedmill.library.subscriptions.lookup import subscriptions_of_user
from feedmill.model.notifications.notification_message import NotificationMessage
from feedmill.store.database import Database

MAX_EXCERPT = 200
# The titles of a folder that a browser shows.
MAX_SHORT = 3

Sections = Mapping[str, list[EntrySummary]]


async def compose_digest(
    db: Database, blobs: Blobs | None, user_id: int, entry_ids: Sequence[int], t: Translator
) -> NotificationMessage | None:
    """The digest of those entries that are still unread; None when there are none."""
    entries = [entry for entry in await entry_summaries(db, user_id, list(entry_ids)) if entry.unread]
    if not entries:
        return None
    sections = await _by_folder(db, user_id, entries, t)
    title = t.render(Message("notification.digest", n=len(entries)))
    pictures = await digest_pictures(db, blobs, [entry.id for entry in entries])
    short = "\n".join(f"• {_title(entry, t)}" for found in sections.values() for entry in found[:MAX_SHORT])
    html = _html(title, sections, pictures.sources, t)
    return NotificationMessage(title, _text(sections, t), html, short, "/unread", tuple(pictures.inline))


async def _by_folder(db: Database, user_id: int, entries: Sequence[EntrySummary], t: Translator) -> Sections:
    """The entries by the name of their folder, in the order of the folders; those without one come last."""
    names = {folder.id: folder.name for folder in await folders_of_user(db, user_id)}
    folder_of = {each.id: each.folder_ids[0] for each in await subscriptions_of_user(db, user_id) if each.folder_ids}
    others = t.render(Message("notification.no_folder"))
    sections: dict[str, list[EntrySummary]] = {name: [] for name in [*names.values(), others]}
    for entry in entries:
        folder_id = folder_of.get(entry.subscription_id or 0, 0)
        sections[names.get(folder_id, others)].append(entry)
    return {name: sorted(found, key=_feed_title) for name, found in sections.items() if found}


def _feed_title(entry: EntrySummary) -> str:
    return entry.feed_title or ""


def _title(entry: EntrySummary, t: Translator) -> str:
    return entry.title or t.render(Message("notification.untitled"))


def _text(sections: Sections, t: Translator) -> str:
    lines: list[str] = []
    for name, entries in sections.items():
        lines += ["", f"== {name} =="]
        lines += [f"• {_title(entry, t)} ({_feed_title(entry)})\n  {entry.link or ''}".rstrip() for entry in entries]
    return "\n".join(lines).strip()


def _html(title: str, sections: Sections, pictures: Mapping[int, str], t: Translator) -> str:
    body = "".join(
        f"<h2>{escape(name)}</h2>{''.join(_article(entry, pictures.get(entry.id), t) for entry in entries)}"
        for name, entries in sections.items()
    )
    return f'<div style="font-family:sans-serif;max-width:40em"><h1>{escape(title)}</h1>{body}</div>'


def _article(entry: EntrySummary, picture: str | None, t: Translator) -> str:
    shown = f'<img src="{escape(picture)}" alt="" width="120" style="float:right;margin-left:1em">' if picture else ""
    name = escape(_title(entry, t))
    title = f'<a href="{escape(entry.link)}">{name}</a>' if entry.link else name
    excerpt = escape(cut_text(entry.excerpt, MAX_EXCERPT))
    feed = f'<small style="color:#666">{escape(_feed_title(entry))}</small>'
    return f'<div style="clear:both">{shown}<p><strong>{title}</strong><br>{feed}<br>{excerpt}</p></div>'
