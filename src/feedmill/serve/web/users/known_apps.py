"""The reader apps that the page *Apps* knows: which API each speaks, and what to choose in it."""

from typing import Literal, NamedTuple

AppApi = Literal["freshrss", "greader", "fever", "miniflux"]

# What is entered in an app is the address of this server with this path.
PATHS: dict[AppApi, str] = {
    "freshrss": "/api/greader.php",
    "greader": "",
    "fever": "/fever/",
    "miniflux": "",
}


class KnownApp(NamedTuple):
    """`choice` is what the app calls the kind of account."""

    id: str
    name: str
    platform: str
    api: AppApi
    choice: str


KNOWN_APPS = (
    KnownApp("netnewswire", "NetNewsWire", "macOS, iOS", "freshrss", "FreshRSS"),
    KnownApp("reeder", "Reeder (classic)", "macOS, iOS", "freshrss", "FreshRSS"),
    KnownApp("unread", "Unread", "iOS", "fever", "Fever"),
    KnownApp("fiery_feeds", "Fiery Feeds", "iOS", "fever", "Fever"),
    KnownApp("lire", "lire", "iOS", "freshrss", "FreshRSS"),
    KnownApp("readkit", "ReadKit", "macOS, iOS", "freshrss", "FreshRSS"),
    KnownApp("read_you", "Read You", "Android", "freshrss", "FreshRSS"),
    KnownApp("capy_reader", "Capy Reader", "Android", "freshrss", "FreshRSS"),
    KnownApp("feedme", "FeedMe", "Android", "freshrss", "FreshRSS"),
    KnownApp("focusreader", "FocusReader", "Android", "freshrss", "FreshRSS"),
    KnownApp("readrops", "Readrops", "Android", "freshrss", "FreshRSS"),
    KnownApp("fluent_reader", "Fluent Reader", "Windows, macOS, Linux", "greader", "Google Reader API"),
    KnownApp("newsflash", "NewsFlash", "Linux", "miniflux", "Miniflux"),
    # With this choice it adds the path of FreshRSS by itself.
    KnownApp("rss_guard", "RSS Guard", "Windows, macOS, Linux", "greader", "FreshRSS"),
    KnownApp("liferea", "Liferea", "Linux", "greader", "Google Reader API"),
    KnownApp("newsboat", "newsboat", "Linux, macOS", "miniflux", "miniflux"),
    KnownApp("other_greader", "Google Reader API", "", "greader", "Google Reader API"),
    KnownApp("other_freshrss", "FreshRSS", "", "freshrss", "FreshRSS"),
    KnownApp("other_fever", "Fever", "", "fever", "Fever"),
    KnownApp("other_miniflux", "Miniflux", "", "miniflux", "Miniflux"),
)
BY_ID = {app.id: app for app in KNOWN_APPS}
NAMED = tuple(app for app in KNOWN_APPS if app.platform)
OTHERS = tuple(app for app in KNOWN_APPS if not app.platform)
