"""A valid form for every page route that changes something.

`{feed}`, `{entry}`, `{label}`, `{folder}`, `{url}` and the like are placeholders; see `filled`.
"""

from collections.abc import Mapping
from typing import Any

from feedmill.library.feeds.starter_feeds import StarterFeed
from feedmill.serve.web.core.keymap import DEFAULT_KEYMAP, is_configurable
from feedmill.serve.web.feeds.setting_fields import SETTING_FIELDS
from feedmill.serve.web.pools.group_form import EMPTY_VALUES
from tests.browser.sample_feeds import PASSWORD

# Nothing listens there; tests that submit the form replace it with a real URL.
STARTER = StarterFeed("A feed to begin with", "http://127.0.0.1:9/starter", "en")

Form = Mapping[str, Any]

HTTP = {f"http_{name}": "" for name in ("name", "password", "cookie", "proxy", "user_agent", "headers")}
FEED = dict.fromkeys(SETTING_FIELDS, "") | {
    "title": "Mine",
    "url": "{feed_url}",
    "folder": ["{folder}"],
    "new_folder": "",
    "interval": "3600",
    "images": "none",
    "label": ["{label}"],
    "new_label": "",
    "retention_days": "30",
    "block_rules": "ads",
    "keep_rules": "",
    "keep_selector": ".post",
    "drop_selector": "",
    **HTTP,
}
FILTER = {
    "name": "Mine",
    "condition": "mill",
    "scope": "feed:{feed}",
    "action": ["star"],
    "label": ["{label}"],
    "new_label": "",
    "pool": ["{pool}"],
    "stops": "yes",
    "stored": "yes",
}
ADDED = {"url": "{url}", "feed": ["{url}"], "folder": "{folder}", "interval": "3600", "images": "all", **HTTP}
GROUP = {name: str(value) for name, value in EMPTY_VALUES.items() if name != "titles_form"} | {"name": "mine"}
SECOND_FACTOR = {"username": "alice", "current": PASSWORD, "code": "123456"}
NEW_ACCOUNT = {"name": "erin", "password": PASSWORD, "again": PASSWORD}

# In an order in which they can be submitted one after another.
FORMS: Mapping[str, Form] = {
    "/marks": {"do": ["read:{entry}", "star"], "id": ["{entry}"], "next": "/unread", "quiet": "yes"},
    "/positions": {"position": ["{entry}:0:93:1771403400000"]},
    "/marks/label": {"id": ["{entry}"], "label": "{label}", "next": "/unread"},
    "/marks/images": {"id": ["{entry}"], "next": "/unread"},
    "/marks/save": {"id": ["{entry}"], "next": "/unread"},
    "/mark-all-read": {"view": "/feed/{feed}", "age": "7", "up_to": "{entry}"},
    "/mark-side-read": {
        "view": "/feed/{feed}",
        "order": "newest",
        "entry": "{entry}",
        "side": "below",
        "up_to": "{entry}",
    },
    "/undo": {"undo": "{undo}", "next": "/unread"},
    "/item/{id:int}/labels": {"label": ["{label}"], "new": "", "next": "/unread"},
    "/item/{id:int}/full-text": {"in": "/feed/{feed}"},
    "/feeds": {"id": ["{feed}"], "do": "folder:{folder}", "next": "/feeds"},
    "/feed/{id:int}/edit": FEED,
    "/feed/{id:int}/edit/preview": FEED,
    "/feed/{id:int}/health": {"do": "pause", "next": "/feed/{feed}"},
    "/feed/{id:int}/health/test": {"url": "{url}", "at": "site"},
    "/feed/{id:int}/archive/images": {"do": "free", "older": "90"},
    "/feed/{id:int}/archive/reparse": {"body": "{body}"},
    "/subscribe": ADDED,
    "/subscribe/discover": ADDED,
    "/subscribe/add": ADDED,
    "/starters": {"feed": [STARTER.url]},
    "/import": {"opml": "<opml version='2.0'><body><outline xmlUrl='{url}'/></body></opml>", "do": "import"},
    "/refresh-all": {"view": "/feed/{feed}"},
    "/feed/{id:int}/rename": {"title": "Mine", "next": "/all"},
    "/feed/{id:int}/move": {"from": "", "to": "{folder}", "next": "/all"},
    "/folders/{id:int}/move": {"beside": "", "place": "into", "next": "/all"},
    "/sidebar": {
        "folder": "{folder}",
        "unread": "1",
        "collapsed": "0",
        "group": "labels:open",
        "at": "/all",
        "next": "/all",
    },
    "/jobs/{id:int}/cancel": {},
    "/folders": {"name": "Made", "parent": "{folder}"},
    "/folders/{id:int}": {"name": "Renamed", "parent": ""},
    "/labels": {"name": "made"},
    "/labels/{id:int}": {"name": "renamed"},
    "/searches": {"q": "mill", "name": "mills", "in": "/feed/{feed}"},
    "/filters/new": FILTER,
    "/filters/new/try": FILTER,
    "/filters/order": {"id": ["{filter}"]},
    "/filters/{id:int}": FILTER,
    "/filters/{id:int}/try": FILTER,
    "/filters/{id:int}/move": {"to": "up"},
    "/filters/{id:int}/apply": {},
    "/filters/{id:int}/revert": {},
    "/filters/{id:int}/off": {"revert": "yes"},
    # After that form, because jobs of a filter that is off are not tried again.
    "/filters/{id:int}/switch": {"on": "yes"},
    "/filter-jobs/{id:int}/cancel": {"next": "/filters"},
    "/filter-jobs/{id:int}/retry": {"next": "/filters"},
    "/filter-jobs/{id:int}/undo": {"next": "/filters"},
    "/muted": {"do": "mute", "kind": "word", "text": "mill", "period": "week", "stored": "yes"},
    "/muted/{id:int}": {"period": "day"},
    "/muted/{id:int}/restore": {"until": "2030-01-01T00:00:00.000Z", "enabled": "yes", "next": "/muted"},
    "/item/{id:int}/mute": {
        "do": "follow",
        "subject": "author:Ada Quern",
        "text": "",
        "period": "for_good",
        "stored": "yes",
        "next": "/unread",
    },
    "/item/{id:int}/effects": {"action": "star", "target": "0", "next": "/unread"},
    "/bookmarks": {"url": "{url}", "note": "a note"},
    "/bookmarks/{id:int}": {"title": "Mine", "note": ""},
    "/bookmarks/{id:int}/retry": {},
    "/appearance/css": {"css": ":root { --accent: #063 }"},
    "/appearance": {"theme": "dark", "next": "/appearance", "quiet": "yes"},
    "/settings": {
        "theme": "dark",
        "language": "en",
        "density": "cards",
        "zone": "Europe/Rome",
        "keys": "on",
        "marks": "open",
    },
    "/settings/api-keys": {"name": "mine", "scope": ["read"], "days": "30"},
    "/settings/apps": {"app": "netnewswire", "name": "phone"},
    "/settings/services": {"kind": "linkding", "name": "Links", "by_key": "yes", "address": "{url}", "token": "t0ken"},
    "/settings/services/{id:int}": {"name": "Links", "address": "{url}", "token": "t0ken", "tags": "feeds"},
    "/settings/services/{id:int}/{action}": {},
    "/settings/notifications": {"name": "phone", "url": "ntfys://ntfy.sh/t", "event": [], "gap": "5", "digest": "none"},
    "/settings/notifications/browsers": {
        "endpoint": "https://push.example/alice",
        "p256dh": "BLd_Ghxs-T_G5RVc7BQmHLnjExi9yGaV_j7RikmXfIEVgFhPyvdRNZP5JqMvG6vkEaix4oW9p8FQCronTocdxp4",
        "auth": "AAECAwQFBgcICQoLDA0ODw",
    },
    "/settings/notifications/{id:int}": {
        "name": "phone",
        "url": "",
        "event": [],
        "gap": "60",
        "paused": "yes",
        "digest": "daily",
    },
    "/settings/notifications/{id:int}/{action}": {},
    "/settings/output-feeds": {"list": "folder/{folder}", "name": "mine", "announce": "yes"},
    "/settings/webhooks": {"url": "{url}", "event": ["entries.new"]},
    "/settings/webhooks/{id:int}": {"url": "{url}", "event": ["feed.failing"]},
    "/settings/webhooks/{id:int}/{action}": {},
    "/settings/webhooks/{id:int}/deliveries/{delivery:int}": {},
    "/keys/edit": {action: ", ".join(keys) for action, keys in DEFAULT_KEYMAP.items() if is_configurable(action)},
    "/pools/new": GROUP | {"name": "other"},
    "/pools/{id:int}": GROUP,
    "/pools/{id:int}/grants": {"taker": "alice", "right": "take"},
    "/pools/{id:int}/grants/{user:int}/{right}/revoke": {},
    "/pools/{id:int}/{action}": {},
    "/pools/{id:int}/{kind}/{action}": {},
    "/pools/{id:int}/{kind}/take": {},
    "/pools/{id:int}/{kind}/put-back": {"id": "1", "token": ""},
    "/admin/users/new": {"name": "frank", "password": PASSWORD, "is_admin": "yes"},
    "/admin/users/{id:int}": {"quota_feeds": "10", "quota_bytes": "", "is_admin": "yes"},
    "/admin/users/{id:int}/{action}": {},
    "/admin/feeds/{id:int}": {"url": "https://example.org/moved"},
    "/admin/feeds/{id:int}/merge": {"into": "{other_feed}"},
    "/admin/feeds/{id:int}/{action}": {},
    "/admin/hosts/{host}/block": {},
    "/admin/hosts/{host}/unblock": {},
    "/admin/queue/retry/{what}": {},
    "/register": NEW_ACCOUNT,
    "/setup": NEW_ACCOUNT,
    "/login": {"name": "alice", "password": PASSWORD, "next": "/"},
    "/labels/{id:int}/delete": {},
    "/folders/{id:int}/delete": {},
    "/searches/{id:int}/delete": {"q": "mill"},
    "/filters/{id:int}/delete": {"revert": "yes", "next": "/filters"},
    "/bookmarks/{id:int}/delete": {},
    "/settings/api-keys/{id:int}/revoke": {},
    "/settings/apps/{id:int}/revoke": {},
    "/settings/output-feeds/{id:int}/revoke": {},
    "/settings/identities/{id:int}/unlink": {},
    "/settings/identities/{provider}/link": {},
    "/sign-in-link/{token}": {},
    "/feeds/unsubscribe": {"id": ["{feed}"], "next": "/feeds"},
    "/settings/sessions/{id:int}/end": {},
    "/settings/sessions/end-others": {},
    "/login/code": {"code": "123456", "with": "app", "next": "/"},
    "/settings/two-factor/set-up": SECOND_FACTOR | {"secret": "A" * 32},
    "/settings/two-factor/codes": SECOND_FACTOR,
    "/settings/two-factor/off": SECOND_FACTOR,
    "/settings/password": {"username": "alice", "current": PASSWORD, "new": f"{PASSWORD}2", "again": f"{PASSWORD}2"},
    "/logout": {},
}


def filled(form: Form, values: Mapping[str, Any]) -> dict[str, Any]:
    """The form with its placeholders replaced by the values of a test."""
    return {
        name: [_fill(one, values) for one in value] if isinstance(value, list) else _fill(value, values)
        for name, value in form.items()
    }


def _fill(text: str, values: Mapping[str, Any]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text
