"""The wiring: the only place that picks adapters."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from pkgutil import resolve_name
from urllib.parse import unquote, urlsplit

from feedmill import __version__
from feedmill.archive.blobs import Blobs
from feedmill.archive.files import FolderBlobs
from feedmill.archive.image_room import Room
from feedmill.archive.images import ImageTools
from feedmill.archive.location import FolderConfig, S3Config, parse_objects_url
from feedmill.collect.cadence import Rules
from feedmill.collect.refresh import Tools
from feedmill.coordination.memory import MemoryLocks, MemoryTurns, NoSight
from feedmill.coordination.together import Coordination
from feedmill.errors import BadSetting
from feedmill.library.bookmarks import Bookmarks
from feedmill.library.delivering import Messenger
from feedmill.library.icons import Icons
from feedmill.library.pages import PageReader
from feedmill.library.render import sanitize
from feedmill.library.tailoring import tailor
from feedmill.library.webhooks import Webhooks
from feedmill.library.whole_articles import WholeArticles
from feedmill.model.feed import Claim
from feedmill.model.refresh import Decision
from feedmill.outbound.addresses import AddressPolicy
from feedmill.outbound.blocks import BlockedHosts, Blocks
from feedmill.outbound.client import Client
from feedmill.outbound.options import Limits
from feedmill.outbound.pacing import Pacer
from feedmill.pools.door import Pools
from feedmill.pools.texts import Texts
from feedmill.pools.tools import Lists, PoolTools
from feedmill.settings import Settings
from feedmill.store.database import Database, Step
from feedmill.store.drivers.d1 import D1Database
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.migrations import migrate

USER_AGENT = f"Feedmill/{__version__} (+https://github.com/feedmill/feedmill)"
ERRANDS_AT_ONCE = 5
KNOWN = "sqlite:///path, postgresql://…, mysql://… and d1+https://…"

# Adapters that bring a library of their own, which takes time and memory: imported only where they are chosen.
POSTGRES = "feedmill.store.drivers.postgres:PostgresDatabase"
MYSQL = "feedmill.store.drivers.mysql:MysqlDatabase"
S3 = "feedmill.archive.s3:S3Blobs"
REDIS_COORDINATION = "feedmill.coordination.through_redis:opened_coordination"
REDIS_QUEUES = "feedmill.coordination.through_redis:opened_queues"


@dataclass(frozen=True, slots=True)
class App:
    """The world that everything else receives its parts from."""

    settings: Settings
    db: Database
    blobs: Blobs
    client: Client
    blocks: BlockedHosts
    tools: Tools
    images: ImageTools
    pools: Pools
    coordination: Coordination
    webhooks: Webhooks
    bookmarks: Bookmarks
    whole_articles: WholeArticles
    icons: Icons


@asynccontextmanager
async def build(settings: Settings) -> AsyncIterator[App]:
    """Opens the world, with its schema up to date, and closes it again."""
    blobs = open_blobs(settings)
    db = open_database(settings)
    blocks = BlockedHosts(db)
    try:
        await migrate(db)
        async with (
            opened_coordination(settings) as coordination,
            open_client(settings, pacer := _pacer(settings, coordination), blocks) as client,
            open_image_client(settings, pacer, blocks) as for_images,
            open_errand_client(settings, pacer, blocks) as for_errands,
            opened_pools(settings, db) as pools,
        ):
            webhooks, bookmarks = Webhooks(Messenger(db, for_errands)), Bookmarks(PageReader(db, for_errands))

            async def besides(claim: Claim, decision: Decision) -> Sequence[Step]:
                joins, tells = await pools.gatherer.joins(claim, decision), await webhooks.tells(claim, decision)
                return [*joins, *tells, *await tailor(db, claim, decision)]

            tools = Tools(db, blobs, client, read_rules(settings), besides=besides)
            images = ImageTools(
                db, blobs, for_images, tools.outage, Room(db, settings.images_total_bytes), settings.images_at_once,
                timedelta(seconds=settings.host_gap),
            )  # fmt: skip
            whole, icons = WholeArticles(db, for_errands), Icons(db, for_errands)
            yield App(
                settings, db, blobs, client, blocks, tools, images, pools, coordination, webhooks, bookmarks, whole,
                icons,
            )  # fmt: skip
    finally:
        await db.close()


@asynccontextmanager
async def opened_pools(settings: Settings, db: Database) -> AsyncIterator[Pools]:
    """Pools on Redis, or on the database alone; at the end the marks that wait are written."""
    async with AsyncExitStack() as closing:
        lists = None
        if url := settings.redis.get_secret_value():
            lists = Lists(*await closing.enter_async_context(resolve_name(REDIS_QUEUES)(url)))
        pools = Pools(PoolTools(db, Texts(sanitize), lists))
        closing.push_async_callback(pools.close)
        yield pools


@asynccontextmanager
async def opened_coordination(settings: Settings) -> AsyncIterator[Coordination]:
    """Through Redis when there is one."""
    url = settings.redis.get_secret_value()
    if not url:
        yield Coordination(MemoryTurns(), MemoryLocks(), NoSight(), _always)
        return
    async with resolve_name(REDIS_COORDINATION)(url) as coordination:
        yield coordination


async def _always() -> bool:
    return True


def _pacer(settings: Settings, coordination: Coordination) -> Pacer:
    return Pacer(coordination.turns, timedelta(seconds=settings.host_gap))


def open_client(settings: Settings, pacer: Pacer, blocks: Blocks) -> Client:
    return _client(settings, pacer, blocks, settings.max_feed_bytes, settings.fetches_at_once)


def open_image_client(settings: Settings, pacer: Pacer, blocks: Blocks) -> Client:
    """A client of its own, so that images never take the places of feeds; hosts see them as one."""
    return _client(settings, pacer, blocks, settings.max_image_bytes, settings.images_at_once)


def open_errand_client(settings: Settings, pacer: Pacer, blocks: Blocks) -> Client:
    """For webhooks, saved pages, icons and whole articles: a slow one holds up neither feeds nor images."""
    return _client(settings, pacer, blocks, settings.max_feed_bytes, ERRANDS_AT_ONCE)


def _client(settings: Settings, pacer: Pacer, blocks: Blocks, max_bytes: int, at_once: int) -> Client:
    limits = Limits(
        max_bytes=max_bytes,
        connect=timedelta(seconds=settings.connect_seconds),
        read=timedelta(seconds=settings.read_seconds),
        total=timedelta(seconds=settings.total_seconds),
    )
    user_agent = settings.user_agent or USER_AGENT
    return Client(pacer, AddressPolicy(settings.allow_private), user_agent, limits, at_once, blocks=blocks)


def read_rules(settings: Settings) -> Rules:
    return Rules(timedelta(minutes=settings.backoff_base), timedelta(minutes=settings.backoff_cap))


def open_database(settings: Settings) -> Database:
    url = settings.database_url
    scheme, separator, rest = url.partition("://")
    if not separator:
        raise BadSetting(f"database: {url!r} is no URL; known are {KNOWN}")
    if not _has_hosts(url):
        # Neither the URL nor the parser's words: a part of the password may be in them.
        hint = "write #, / and @ in a password as %23, %2F and %40"
        raise BadSetting(f"database: the host or port of the {scheme}:// URL can't be read ({hint})")
    match scheme:
        case "sqlite":
            return SqliteDatabase(_sqlite_path(rest))
        case "postgresql" | "postgres":
            return _driver(POSTGRES)(f"postgresql://{rest}")
        case "mysql" | "mariadb":
            return _driver(MYSQL)(f"mysql://{rest}")
        case "d1+https" | "d1+http":
            most = settings.d1_statements
            return D1Database(url.removeprefix("d1+"), _proxy_token(settings), statements_per_batch=most)
    raise BadSetting(f"database: {scheme}:// is not supported; known are {KNOWN}")


def has_database(settings: Settings) -> bool:
    """Whether there is something to open; only of a file can it be said that there is not."""
    scheme, _, rest = settings.database_url.partition("://")
    return scheme != "sqlite" or Path(unquote(rest[1:])).expanduser().is_file()


def _driver(name: str) -> Callable[[str], Database]:
    driver: Callable[[str], Database] = resolve_name(name)
    return driver


def open_blobs(settings: Settings) -> Blobs:
    place = objects_place(settings)
    return FolderBlobs(place.folder) if isinstance(place, FolderConfig) else resolve_name(S3)(place)


def objects_place(settings: Settings) -> FolderConfig | S3Config:
    """Where objects are kept."""
    secret = settings.s3_secret_key.get_secret_value()
    return parse_objects_url(settings.objects or str(settings.data / "objects"), settings.s3_access_key, secret)


def _has_hosts(url: str) -> bool:
    """Whether host and port, or those of each of several hosts, can be read."""
    try:
        hosts = urlsplit(url).netloc.rpartition("@")[2].split(",")
        return all(urlsplit(f"//{host}").port != 0 for host in hosts)
    except ValueError:
        return False


def _sqlite_path(rest: str) -> Path:
    if not rest.startswith("/") or rest == "/":
        raise BadSetting("database: a SQLite URL looks like sqlite:///folder/file.db (four slashes from the root)")
    path = Path(unquote(rest[1:])).expanduser()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadSetting(f"data: the folder {path.parent} can't be made: {error.strerror}") from error
    return path


def _proxy_token(settings: Settings) -> str:
    token = settings.database_token.get_secret_value()
    if not token:
        raise BadSetting("database_token: the D1 proxy worker needs its token (FEEDMILL_DATABASE_TOKEN)")
    return token
