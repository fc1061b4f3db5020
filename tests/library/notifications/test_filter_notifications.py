"""A filter that notifies reaches the targets of its owner, in the owner's language."""

from feedmill.library.filters.manage_filters import create_filter
from feedmill.library.notifications.compose_message import compose_message
from feedmill.library.notifications.service import make_notifications
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.users.preferences import save_preferences
from feedmill.model.filters.entry_filter import FilterActions, FilterDraft
from feedmill.model.notifications.notification_target import CHOSEN_EVENTS, TargetSettings
from feedmill.model.user import SCOPES, Caller
from feedmill.outbound.apprise_messages import AppriseSender
from feedmill.store.notifications.notification_queue import take_targets, waiting_notifications
from tests.flows.refresh_environment import HOUR, RefreshEnvironment, answer, item
from tests.library.services.service_setup import with_key
from tests.library.subscribers import Subscribers


async def test_a_match_of_a_filter_is_in_the_message(env: RefreshEnvironment) -> None:
    subscribers = Subscribers(env).with_filters()
    alice = await subscribers.person("alice")
    await save_preferences(env.db, alice, {"language": "zh_CN"})
    told = make_notifications(OutboundTools(env.db, env.client, lambda: env.now), with_key(), AppriseSender())
    await told.create(alice.id, "ntfys://ntfy.sh/topic", TargetSettings("phone", CHOSEN_EVENTS))
    draft = FilterDraft("Kilns", "kilns", actions=FilterActions(notify=True))
    await create_filter(env.db, Caller(alice, frozenset(SCOPES)), draft, env.now)
    mine = (await subscribers.subscribe(alice, env.web.serve("/feed", answer(item("first"))))).subscription

    await env.later(HOUR, await subscribers.feed(mine), answer(item("kilns"), item("other")))

    _, [target] = await take_targets(env.db, env.now, 1)
    waiting = await waiting_notifications(env.db, target.id, 10)
    message = await compose_message(env.db, target, waiting)
    assert message is not None
    assert message.title == "Kilns：1 篇文章"
    assert "• kilns" in message.body
    assert "other" not in message.body
