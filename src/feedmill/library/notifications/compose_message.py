"""Writes one message about everything that waits for a target, in the language of its owner."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from feedmill.i18n.catalogue import DEFAULT_LANGUAGE, language_names
from feedmill.i18n.messages import Message
from feedmill.i18n.translator import Translator, translator
from feedmill.library.entries.list_entries import entry_summaries, shown_link
from feedmill.library.search.saved_searches import saved_searches_of_user
from feedmill.library.users.preferences import stored_language
from feedmill.model.notifications.notification_message import NotificationMessage
from feedmill.model.notifications.notification_target import NotificationClaim, NotificationEvent, WaitingNotification
from feedmill.model.webhook import WebhookEvent
from feedmill.store.database import Database
from feedmill.store.webhooks.event_data import read_event_entries, read_event_feed, read_notifying_filters

# A message of a thousand lines is refused by many services.
MAX_ENTRIES = 20
MAX_TITLE = 200


async def compose_message(
    db: Database, taken: NotificationClaim, waiting: Sequence[WaitingNotification]
) -> NotificationMessage | None:
    """The message; None when there is nothing to report any more."""
    t = translator(message_language(taken))
    parts = [part for each in waiting if (part := await _part(db, taken.user_id, each, t))]
    if not parts:
        return None
    titles = list(dict.fromkeys(part.title for part in parts))
    is_single = len(titles) == 1
    title = titles[0] if is_single else t.render(Message("notification.many", n=len(parts)))
    body = "\n\n".join("\n".join(part.full_lines(is_single)) for part in parts)
    short = "\n".join(line for part in parts for line in part.short_lines(is_single))
    return NotificationMessage(
        title[:MAX_TITLE], body, short=short, path=parts[0].path if len(parts) == 1 else "/unread"
    )


def message_language(taken: NotificationClaim) -> str:
    language = stored_language(taken.user_settings)
    return language if language in language_names() else DEFAULT_LANGUAGE


@dataclass(frozen=True, slots=True)
class MessageLine:
    """A line about one entry or feed, and the link below it."""

    text: str
    link: str | None = None


@dataclass(frozen=True, slots=True)
class MessagePart:
    """What a message says about one event. `path` is our page about it."""

    title: str
    lines: Sequence[MessageLine]
    path: str

    def full_lines(self, is_only: bool) -> list[str]:
        """All lines with their links, below the title unless it is that of the message."""
        lines = [f"{line.text}\n  {line.link}" if line.link else line.text for line in self.lines]
        return lines if is_only else [self.title, *lines]

    def short_lines(self, is_only: bool) -> list[str]:
        return [line.text for line in self.lines] if is_only else [self.title]


async def _part(db: Database, user_id: int, each: WaitingNotification, t: Translator) -> MessagePart | None:
    match each.event:
        case NotificationEvent.TEST:
            text = MessageLine(t.render(Message("notification.test_text")))
            return MessagePart(t.render(Message("notification.test_title")), [text], "/settings/notifications")
        case NotificationEvent.SEARCH_HITS:
            return await _search_hits(db, user_id, each, t)
        case NotificationEvent.MATCHED_ENTRIES:
            return await _matched_entries(db, user_id, each, t)
    return await _feed_event(db, user_id, each, t)


async def _feed_event(db: Database, user_id: int, each: WaitingNotification, t: Translator) -> MessagePart | None:
    feed = await read_event_feed(db, each.feed_id, user_id)
    if feed is None:
        return None
    name = feed.title or feed.url
    path = f"/feed/{feed.subscription_id}/health"
    if each.event is NotificationEvent.FEED_HEALED:
        return MessagePart(t.render(Message("notification.feed_healed", feed=name)), [MessageLine(feed.url)], path)
    line = MessageLine(t.render(feed.last_error), feed.url)
    return MessagePart(t.render(Message("notification.feed_failing", feed=name)), [line], path)


async def _search_hits(db: Database, user_id: int, each: WaitingNotification, t: Translator) -> MessagePart | None:
    search = next((found for found in await saved_searches_of_user(db, user_id) if found.id == each.search_id), None)
    entries = await entry_summaries(db, user_id, list(each.entry_ids))
    if search is None or not entries:
        return None
    title = t.render(Message("notification.search_hits", name=search.name, n=len(entries)))
    lines = [_line(entry.title, entry.link, t) for entry in entries]
    path = _item_or([entry.id for entry in entries], f"/search?{urlencode({'q': search.query})}")
    return MessagePart(title, _shortened(lines, len(entries), t), path)


async def _matched_entries(db: Database, user_id: int, each: WaitingNotification, t: Translator) -> MessagePart | None:
    count, entries = await read_event_entries(
        db, WebhookEvent.MATCHED_ENTRIES, each.feed_id, user_id, each.refresh_token or "", MAX_ENTRIES
    )
    if not count:
        return None
    filters = await read_notifying_filters(db, user_id, [entry.id for entry in entries])
    names = list(dict.fromkeys(found.name for found in filters.values()))
    title = t.render(Message("notification.matched", name=", ".join(names), n=count))
    lines = [_line(entry.title or "", shown_link(entry.link), t) for entry in entries]
    return MessagePart(title, _shortened(lines, count, t), _item_or([entry.id for entry in entries], "/unread"))


def _item_or(entry_ids: Sequence[int], path: str) -> str:
    """The page of the entry if it is a single one, else the path."""
    return f"/item/{entry_ids[0]}" if len(entry_ids) == 1 else path


def _line(title: str, link: str | None, t: Translator) -> MessageLine:
    text = " ".join(title.split())[:MAX_TITLE] or t.render(Message("notification.untitled"))
    return MessageLine(f"• {text}", link)


def _shortened(lines: Sequence[MessageLine], count: int, t: Translator) -> list[MessageLine]:
    shown = list(lines[:MAX_ENTRIES])
    more = MessageLine(t.render(Message("notification.more", n=count - len(shown))))
    return shown if count <= len(shown) else [*shown, more]
