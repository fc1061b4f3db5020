"""Writes one message about everything that waits for a target, in the language of its owner."""

from collections.abc import Sequence

from feedmill.i18n.catalogue import DEFAULT_LANGUAGE, language_names
from feedmill.i18n.messages import Message
from feedmill.i18n.translator import Translator, translator
from feedmill.library.entries.list_entries import entry_summaries, shown_link
from feedmill.library.search.saved_searches import saved_searches_of_user
from feedmill.library.users.preferences import stored_language
from feedmill.model.notifications.notification_target import NotificationClaim, NotificationEvent, WaitingNotification
from feedmill.model.webhook import WebhookEvent
from feedmill.outbound.apprise_messages import NotificationMessage
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
    titles = list(dict.fromkeys(title for title, _ in parts))
    title = titles[0] if len(titles) == 1 else t.render(Message("notification.many", n=len(parts)))
    sections = (lines if len(titles) == 1 else [part_title, *lines] for part_title, lines in parts)
    return NotificationMessage(title[:MAX_TITLE], "\n\n".join("\n".join(lines) for lines in sections))


def message_language(taken: NotificationClaim) -> str:
    language = stored_language(taken.user_settings)
    return language if language in language_names() else DEFAULT_LANGUAGE


Part = tuple[str, list[str]]


async def _part(db: Database, user_id: int, each: WaitingNotification, t: Translator) -> Part | None:
    match each.event:
        case NotificationEvent.TEST:
            return t.render(Message("notification.test_title")), [t.render(Message("notification.test_text"))]
        case NotificationEvent.SEARCH_HITS:
            return await _search_hits(db, user_id, each, t)
        case NotificationEvent.MATCHED_ENTRIES:
            return await _matched_entries(db, user_id, each, t)
    return await _feed_event(db, user_id, each, t)


async def _feed_event(db: Database, user_id: int, each: WaitingNotification, t: Translator) -> Part | None:
    feed = await read_event_feed(db, each.feed_id, user_id)
    if feed is None:
        return None
    name = feed.title or feed.url
    if each.event is NotificationEvent.FEED_HEALED:
        return t.render(Message("notification.feed_healed", feed=name)), [feed.url]
    return t.render(Message("notification.feed_failing", feed=name)), [t.render(feed.last_error), feed.url]


async def _search_hits(db: Database, user_id: int, each: WaitingNotification, t: Translator) -> Part | None:
    name = next((found.name for found in await saved_searches_of_user(db, user_id) if found.id == each.search_id), None)
    entries = await entry_summaries(db, user_id, list(each.entry_ids))
    if name is None or not entries:
        return None
    lines = [_line(entry.title, entry.link, t) for entry in entries]
    return t.render(Message("notification.search_hits", name=name, n=len(entries))), _shortened(lines, len(entries), t)


async def _matched_entries(db: Database, user_id: int, each: WaitingNotification, t: Translator) -> Part | None:
    count, entries = await read_event_entries(
        db, WebhookEvent.MATCHED_ENTRIES, each.feed_id, user_id, each.refresh_token or "", MAX_ENTRIES
    )
    if not count:
        return None
    filters = await read_notifying_filters(db, user_id, [entry.id for entry in entries])
    names = list(dict.fromkeys(found.name for found in filters.values()))
    lines = [_line(entry.title or "", shown_link(entry.link), t) for entry in entries]
    return t.render(Message("notification.matched", name=", ".join(names), n=count)), _shortened(lines, count, t)


def _line(title: str, link: str | None, t: Translator) -> str:
    text = " ".join(title.split())[:MAX_TITLE] or t.render(Message("notification.untitled"))
    return f"• {text}\n  {link}" if link else f"• {text}"


def _shortened(lines: Sequence[str], count: int, t: Translator) -> list[str]:
    shown = list(lines[:MAX_ENTRIES])
    return shown if count <= len(shown) else [*shown, t.render(Message("notification.more", n=count - len(shown)))]
