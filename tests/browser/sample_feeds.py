"""Sample feeds in several languages and of several kinds, and Alice, who subscribes to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from html import escape

from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.library.subscriptions.folders import ensure_folders
from feedmill.library.subscriptions.subscribe import SubscribeRequest, subscribe
from feedmill.library.users.manage_users import create_first_admin
from feedmill.model.user import User
from feedmill.store.users.users import BY_NAME, to_user
from tests.archive.images import sample_images
from tests.scripted_web import Answer
from tests.serve.rest.site import Site

NAME, PASSWORD = "alice", "correct horse battery"
NOW = datetime.now(UTC)

PROSE = (
    "<p>The miller keeps two kinds of stone. One is for the grain that arrives dry in summer, the other for what "
    "comes in damp from the hills, and <a href='https://example.org/stones'>which of the two turns</a> depends on the "
    "week.</p><p>“You learn it with the ear,” she says. The sluice is older than the house; the wheel was "
    "replaced in 1911, after the flood, with one of <em>larch</em>.</p>"
)
RICH = (
    PROSE + "<h2>What the figures say</h2><table><tr><th>Year</th><th>Grain, t</th><th>Flour, t</th><th>Days</th></tr>"
    "<tr><td>2023</td><td>212</td><td>166</td><td>188</td></tr>"
    "<tr><td>2024</td><td>230</td><td>181</td><td>201</td></tr></table>"
    "<pre><code>def turn(wheel, water):\n    while water.flows():"
    "\n        yield wheel.step(water.height * 0.82)\n</code></pre>"
    "<blockquote><p>A mill that stands still rusts faster than one that works.</p></blockquote>"
    "<ul><li>Stones dressed every six weeks</li><li>Sluice checked after each storm</li></ul>"
)
CHINESE = (
    "<p>清晨五点，水闸缓缓打开，磨坊里的木轮又开始转动。老人说，听声音就知道今天的麦子干不干：“声音发闷，"
    "便要慢一些；声音清脆，就可以快一点。”</p><p>这座磨坊建于一八七二年，历经三次洪水。如今，它每年仍能磨出两百多吨面粉，"
    "供应附近的几个村庄。</p>"
)
DURATION_AND_CHAPTERS = (
    '<duration xmlns="http://www.itunes.com/dtds/podcast-1.0.dtd">16:40</duration>'
    '<chapters xmlns="http://podlove.org/simple-chapters"><chapter start="0" title="Good morning"/>'
    '<chapter start="00:01:05" title="Dressing the stone"/><chapter start="00:01:30" title="Letters"/></chapters>'
)
LONG_TITLE = (
    "A headline that goes on for a while because its editor was paid by the word and nobody dared to say anything "
    "about it"
)
HOSTILE = (
    "<p>Before.</p><script>window.hacked = 1</script><img src=x onerror='window.hacked=2'>"
    "<div hx-get='/unread' hx-trigger='load' data-hx-post='/marks'>quiet words</div>"
    "<iframe src='https://evil.example/'></iframe><form action='/marks' method='post'><input name='do' value='star'>"
    "<button>press me</button></form><a href='javascript:window.hacked=3'>a link</a>"
    "<svg onload='window.hacked=4'></svg><style>body{display:none}</style><p style='position:fixed'>After.</p>"
)


@dataclass(frozen=True)
class SampleEntry:
    """`hours` is its age; None: the feed gives no date."""

    title: str
    html: str = PROSE
    hours: float | None = 1
    author: str = ""
    more: str = ""
    link: str = ""


@dataclass(frozen=True)
class SampleFeed:
    path: str
    title: str
    entries: Sequence[SampleEntry]
    folder: str = ""
    language: str = "en"


def sample_feeds(origin: str) -> list[SampleFeed]:
    """The sample feeds; their images are at `origin`."""
    image = f'<img src="{origin}/wheel.png" alt="The wheel" width="480" height="270">'
    picture = f"<figure>{image}<figcaption>The wheel</figcaption></figure>"
    sound = f'<enclosure url="{origin}/talk.mp3" type="audio/mpeg" length="4200000"/>'
    talk = sound + DURATION_AND_CHAPTERS
    return [
        SampleFeed(
            "/miller.xml",
            "The Miller’s Notebook",
            [
                SampleEntry("Which stone turns: a year between dry grain and damp", picture + RICH, 0.4, "Ada Quern"),
                SampleEntry("Larch, oak, and the long argument about wheels", PROSE, 5, "Ada Quern"),
                SampleEntry("A short history of the sluice", PROSE, 27),
                SampleEntry("Flood marks", PROSE, 60),
            ],
            "Craft",
        ),
        SampleFeed(
            "/systems.xml",
            "Quiet Systems",
            [
                SampleEntry(
                    "Queues that forget: what a lost broker teaches about truth in the row", RICH, 0.8, "N. Okafor"
                ),
                SampleEntry("You don’t need a scheduler, you need a due date", PROSE, 3.2, "N. Okafor"),
                SampleEntry("Backpressure, explained with a bakery", PROSE, 9),
                SampleEntry("Notes on reading other people’s migrations", PROSE, 50),
                SampleEntry("Against the clever cache", PROSE, 100),
            ],
            "Computing",
        ),
        SampleFeed(
            "/zh.xml",
            "磨坊笔记",
            [
                SampleEntry("清晨的水闸：一座老磨坊的一天", CHINESE, 1.5, "林水生"),
                SampleEntry("为什么落叶松比橡木更适合做水轮", CHINESE, 22),
                SampleEntry("面粉、石头与耐心", CHINESE, 70),
            ],
            "Craft",
            "zh-CN",
        ),
        SampleFeed(
            "/ar.xml",
            "دفاتر الطاحونة",
            [
                SampleEntry("كيف تعمل الطاحونة القديمة بعد مئة عام", "<p>تدور العجلة كل صباح عند شروق الشمس.</p>", 7),
            ],
            "",
            "ar",
        ),
        SampleFeed(
            "/radio.xml",
            "Water & Stone Radio",
            [
                SampleEntry("Episode 41: The sound of a stone that needs dressing", PROSE, 12, "", talk),
                SampleEntry("Episode 40: Listening to larch", PROSE, 180, "", sound),
            ],
            "Listening",
        ),
        SampleFeed(
            "/long.xml",
            "A Publication With Rather a Long Name About Rivers, Weirs and Everything Between",
            [
                SampleEntry(LONG_TITLE, PROSE, 2),
                SampleEntry(
                    "Wasserkraftanlagengenehmigungsverfahrensbeschleunigungsgesetzentwurfsbegründung", PROSE, 30
                ),
                SampleEntry("", "<p>A piece without a title.</p>", 33),
            ],
            "Computing",
        ),
        SampleFeed("/hostile.xml", "Not To Be Trusted", [SampleEntry("An article that tries everything", HOSTILE, 4)]),
    ]


def as_rss(sample_feed: SampleFeed) -> bytes:
    items = "".join(_item(sample_feed, number, entry) for number, entry in enumerate(sample_feed.entries))
    return (
        '<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        f'xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>{escape(sample_feed.title)}</title>'
        f"<link>https://example.org{sample_feed.path}</link><language>{sample_feed.language}</language>{items}</channel></rss>"
    ).encode()


def _item(sample_feed: SampleFeed, number: int, entry: SampleEntry) -> str:
    at = "" if entry.hours is None else format_datetime(NOW - timedelta(hours=entry.hours), usegmt=True)
    author = f"<dc:creator>{escape(entry.author)}</dc:creator>" if entry.author else ""
    return (
        f"<item><title>{escape(entry.title)}</title><guid isPermaLink='false'>{sample_feed.path}-{number}</guid>"
        f"<link>{entry.link or f'https://example.org{sample_feed.path}/{number}'}</link><pubDate>{at}</pubDate>{author}"
        f"<content:encoded>{escape(entry.html)}</content:encoded>{entry.more}</item>"
    )


async def prepare(site: Site) -> None:
    """Creates Alice and subscribes her to all sample feeds."""
    alice = await create_first_admin(site.app.db, NAME, PASSWORD, datetime.now(UTC))
    site.web.serve("/wheel.png", Answer(sample_images.PNG, headers={"Content-Type": "image/png"}))
    for sample_feed in sample_feeds(site.web.url("")):
        await subscribe_to(site, alice, sample_feed)


async def find_user(site: Site, name: str = NAME) -> User:
    [row] = await site.app.db.query(BY_NAME, {"name": name})
    return to_user(row)


async def subscribe_to(site: Site, user: User, sample_feed: SampleFeed) -> int:
    """Subscribes the user to a feed that the web of the test serves; the id of the subscription."""
    site.web.serve(sample_feed.path, Answer(as_rss(sample_feed), headers={"Content-Type": "application/rss+xml"}))
    folders = await ensure_folders(site.app.db, user.id, [(sample_feed.folder,)] if sample_feed.folder else [])
    wish = SubscribeRequest(
        site.web.url(sample_feed.path), folder_ids=(folders[sample_feed.folder,],) if sample_feed.folder else ()
    )
    return (await subscribe(site.app.tools, user, wish, ResponseCache())).subscription.id
