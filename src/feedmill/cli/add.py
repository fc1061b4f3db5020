"""`feedmill add`: add feeds by their URL or the URL of their site."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from feedmill.app import App
from feedmill.cli.actions.complete_names import complete_user
from feedmill.cli.actions.subscribe_user import subscribe_user
from feedmill.cli.output.format_text import pluralize
from feedmill.cli.output.json_records import print_record
from feedmill.cli.output.print_text import print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_app import run_with_app
from feedmill.collect.declared.feeds_file import InvalidValue, read_interval
from feedmill.collect.discovery.discover import FetchedFeed, NoFeed, PageFeeds, discover_feeds_at, first_working_feed
from feedmill.collect.discovery.page_feeds import DiscoveredFeed
from feedmill.collect.first_fetch import add_fetched_feed
from feedmill.library.subscriptions.errors import AlreadySubscribed, NotSubscribable, SeveralFeeds
from feedmill.model.encrypted import Encrypted
from feedmill.model.feed import Feed
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.refresh import Updated
from feedmill.outbound.encrypted_options import encrypt_options
from feedmill.outbound.user_urls import BadUrl, UserUrl, parse_user_url
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds, mark_added_by_person
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.users.users import count_users

FAILED, BAD_USAGE = 1, 2


@dataclass(frozen=True, slots=True)
class AddOptions:
    """The options of the command."""

    title: str | None = None
    folder: tuple[str, ...] = ()
    interval: timedelta | None = None
    fetch: bool = True
    anyway: bool = False
    best: bool = False
    every: bool = False
    user: str | None = None

    def feed(self, url: str, http_options: Encrypted | None = None, title: str | None = None) -> NewFeed:
        return NewFeed(
            url,
            title=title,
            own_title=self.title,
            folder=self.folder,
            interval=self.interval,
            http_options=http_options,
        )


@dataclass(frozen=True, slots=True)
class AddResult:
    """The result of one URL. `status` is added, exists, choices or failed; `code` is the exit code."""

    url: str
    status: str
    message: str
    feed: Feed | None = None
    new_entries: int = 0
    choices: tuple[DiscoveredFeed, ...] = ()
    code: int = 0


def _interval(ctx: click.Context, option: click.Parameter, value: str | None) -> timedelta | None:
    try:
        return read_interval(value) if value is not None else None
    except InvalidValue as error:
        raise click.BadParameter(str(error)) from error


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL…")
@click.option("--title", help="Its title, in place of the feed's own.")
@click.option("--folder", help="Its folder, such as Tech/Python.")
@click.option("--interval", callback=_interval, metavar="TIME", help="How often to fetch it: 30m, 2h, 1d.")
@click.option(
    "--user",
    metavar="NAME",
    shell_complete=complete_user,
    help="Subscribe this user to it; title and folder are theirs.",
)
@click.option("--best", is_flag=True, help="If a page has several feeds, add the most likely one.")
@click.option("--all", "every", is_flag=True, help="If a page has several feeds, add all of them.")
@click.option("--anyway", is_flag=True, help="Add it even if it can't be fetched now, or is not a feed yet.")
@click.option("--no-fetch", is_flag=True, help="Add it without fetching it; the next refresh does.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@pass_context
def add(
    context: Context,
    urls: tuple[str, ...],
    title: str | None,
    folder: str | None,
    interval: timedelta | None,
    user: str | None,
    best: bool,
    every: bool,
    anyway: bool,
    no_fetch: bool,
    as_json: bool,
) -> None:
    """Add feeds by the URL of a feed or of its site.

    The feed is fetched once, and its entries are stored. A feed that exists already is not changed.
    """
    if title and len(urls) > 1:
        raise click.UsageError("--title is for one URL")
    if user and (best or every or no_fetch):
        raise click.UsageError("--user can't be combined with --best, --all or --no-fetch")
    names = tuple(name.strip() for name in (folder or "").split("/") if name.strip())
    options = AddOptions(title, names, interval, not no_fetch, anyway, best, every, user)
    results = run_with_app(context.quiet_settings, lambda app: _add_all(app, urls, options, as_json))
    if code := max(result.code for result in results):
        raise click.exceptions.Exit(code)


async def _add_all(app: App, urls: tuple[str, ...], options: AddOptions, as_json: bool) -> list[AddResult]:
    results = []
    for url in urls:
        for result in await _add(app, url, options):
            results.append(result)
            _print(result, as_json)
    if (
        not as_json
        and not options.user
        and any(result.status == "added" for result in results)
        and await count_users(app.db)
    ):
        print_text("nobody subscribes to it yet: 'feedmill add --user NAME URL' subscribes a user")
    return results


async def _add(app: App, text: str, options: AddOptions) -> list[AddResult]:
    try:
        address = parse_user_url(text)
    except BadUrl as error:
        return [AddResult(text, "failed", str(error), code=BAD_USAGE)]
    if options.user:
        return [await _add_for(app, text, options.user, options)]
    if existing := await _existing(app, address.url):
        return [existing]
    if not options.fetch:
        return [await _add_unfetched(app, address, options, "it is fetched with the next refresh")]
    found = await discover_feeds_at(app.client, address.url, address.http_options)
    match found:
        case FetchedFeed():
            return [await _add_found(app, found, options, address.http_options if found.url == address.url else None)]
        case PageFeeds():
            return await _add_of_page(app, found, options)
        case NoFeed():
            return [await _add_no_feed(app, address, found, options)]


async def _add_for(app: App, url: str, user: str, options: AddOptions) -> AddResult:
    seconds = None if options.interval is None else int(options.interval.total_seconds())
    try:
        settings = FeedSettings(title=options.title, interval_seconds=seconds)
        subscribed = await subscribe_user(app, user, url, settings, options.folder, options.anyway)
    except AlreadySubscribed:
        return AddResult(url, "exists", f"{user} is subscribed to {url} already")
    except (SeveralFeeds, NotSubscribable) as error:
        return AddResult(url, "failed", str(error), code=FAILED if error.more.get("may_pass") else BAD_USAGE)
    subscription = subscribed.subscription
    [feed] = await feeds_of_ids(app.db, [subscription.feed_id])
    return AddResult(
        subscription.url, "added", f"feed {feed.id} {subscription.title} for {user}", feed, subscription.unread_count
    )


async def _existing(app: App, url: str) -> AddResult | None:
    """The result for a feed that exists already; it is marked as added by a person."""
    if ids := list((await feed_ids_by_any_url(app.db, [url])).values()):
        await mark_added_by_person(app.db, ids, datetime.now(UTC))
        [feed] = await feeds_of_ids(app.db, ids)
        return AddResult(url, "exists", f"{url} is there already: feed {feed.id} {feed.name}", feed)
    return None


async def _add_found(app: App, found: FetchedFeed, options: AddOptions, http_options: str | None = None) -> AddResult:
    if existing := await _existing(app, found.url):
        return existing
    encrypted = encrypt_options(app.tools.encryption, http_options)
    feed, decision = await add_fetched_feed(app.tools, options.feed(found.url, encrypted, found.parsed.title), found)
    new = len(decision.changes.new) if isinstance(decision, Updated) else 0
    entries = pluralize(new, "entry", "entries")
    return AddResult(found.url, "added", f"feed {feed.id} {feed.name}, {entries}", feed, new)


async def _add_of_page(app: App, page: PageFeeds, options: AddOptions) -> list[AddResult]:
    if not options.best and not options.every:
        hint = f"{page.url} has {len(page.feeds)} feeds: add one by its URL, or use --best or --all"
        return [AddResult(page.url, "choices", hint, choices=page.feeds, code=BAD_USAGE)]
    alternatives = [[feed] for feed in page.feeds] if options.every else [list(page.feeds)]
    return [await _add_first(app, choices, options) for choices in alternatives]


async def _add_first(app: App, found: list[DiscoveredFeed], options: AddOptions) -> AddResult:
    """Adds the first of these that exists already or can be fetched."""
    url = found[0].url
    if existing := await _existing(app, parse_user_url(url).url):
        return existing
    answer = await first_working_feed(app.client, found)
    return (
        await _add_found(app, answer, options)
        if answer
        else AddResult(url, "failed", f"{url}: there is no feed", code=FAILED)
    )


async def _add_no_feed(app: App, address: UserUrl, no_feed: NoFeed, options: AddOptions) -> AddResult:
    if options.anyway:
        return await _add_unfetched(app, address, options, f"although it can't be fetched now: {no_feed.reason}")
    hint = "; --anyway adds it all the same" if no_feed.may_pass else ""
    return AddResult(
        no_feed.url, "failed", f"{no_feed.url}: {no_feed.reason}{hint}", code=FAILED if no_feed.may_pass else BAD_USAGE
    )


async def _add_unfetched(app: App, address: UserUrl, options: AddOptions, note: str) -> AddResult:
    now = datetime.now(UTC)
    encrypted = encrypt_options(app.tools.encryption, address.http_options)
    await add_feeds(app.db, [options.feed(address.url, encrypted)], now, now)
    [feed] = await feeds_of_ids(app.db, list((await feed_ids_by_any_url(app.db, [address.url])).values()))
    return AddResult(address.url, "added", f"feed {feed.id} {feed.name}, {note}", feed)


def _print(result: AddResult, as_json: bool) -> None:
    if as_json:
        print_record(_record(result))
    elif result.status == "added":
        print_text(f"added {result.message}")
    elif result.status == "exists":
        print_text(result.message)
    else:
        print_text(f"feedmill: {result.message}", err=True)
        for choice in result.choices:
            print_text(f"  {choice.url}  {choice.title}".rstrip(), err=True)


def _record(result: AddResult) -> dict[str, Any]:
    names = ("url", "title", "type", "why")
    choices = [{name: getattr(choice, name) for name in names} for choice in result.choices]
    return {
        "url": result.feed.url if result.feed else result.url,
        "status": result.status,
        "feed_id": result.feed.id if result.feed else None,
        "title": result.feed.name if result.feed else None,
        "new_entries": result.new_entries,
        "message": result.message,
        "choices": choices,
    }
