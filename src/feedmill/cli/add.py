"""`feedmill add`: add feeds by their URL or the URL of their site."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from feedmill.app import App
from feedmill.cli.actions.subscribe_user import subscribe_user
from feedmill.cli.output.json_records import print_record
from feedmill.cli.output.text import pluralize, print_text
from feedmill.cli.startup.context import Context, pass_context
from feedmill.cli.startup.run_with_app import run_with_app
from feedmill.collect.declared.feeds_file import InvalidValue, read_interval
from feedmill.collect.discovery.discover import FetchedFeed, NoFeed, PageFeeds, discover_feeds_at, first_working_feed
from feedmill.collect.discovery.page_feeds import DiscoveredFeed
from feedmill.collect.first_fetch import add_fetched_feed
from feedmill.collect.pasted_url import BadUrl, PastedUrl, parse_pasted_url
from feedmill.library.subscriptions.errors import AlreadySubscribed, NotSubscribable, SeveralFeeds
from feedmill.model.encrypted import Encrypted
from feedmill.model.feed import Feed
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.refresh import Updated
from feedmill.outbound.fetch_options import encrypt_options
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds, feed_ids_by_any_url, mark_added_by_person
from feedmill.store.feeds.feeds import feeds_of_ids
from feedmill.store.users.users import count_users

FAILED, BAD_USAGE = 1, 2


@dataclass(frozen=True, slots=True)
class AddOptions:
    """What was asked for besides the address."""

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
    """What came of one address. `status` is added, exists, choices or failed; `code` the exit code it leads to."""

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
@click.option("--title", help="What to call it, whatever the feed says.")
@click.option("--folder", help="Where to file it, like Tech/Python.")
@click.option("--interval", callback=_interval, metavar="TIME", help="How often to fetch it: 30m, 2h, 1d.")
@click.option("--user", metavar="NAME", help="Subscribe this person to it, with a title and folder of their own.")
@click.option("--best", is_flag=True, help="Of several feeds of a page, add the likeliest.")
@click.option("--all", "every", is_flag=True, help="Of several feeds of a page, add all.")
@click.option("--anyway", is_flag=True, help="Add it although it can't be fetched now, or is no feed yet.")
@click.option("--no-fetch", is_flag=True, help="Add it without asking its server; the next refresh does.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
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
    """Add feeds: URLs of feeds, or of pages that have one.

    The feed is fetched once, and what it answers is kept. A feed that is there already is left as it is.
    """
    if title and len(urls) > 1:
        raise click.UsageError("--title is for one URL")
    if user and (best or every or no_fetch):
        raise click.UsageError("--user goes without --best, --all and --no-fetch")
    names = tuple(name.strip() for name in (folder or "").split("/") if name.strip())
    wish = AddOptions(title, names, interval, not no_fetch, anyway, best, every, user)
    done = run_with_app(context.quiet_settings, lambda app: _add_all(app, urls, wish, as_json))
    if code := max(added.code for added in done):
        raise click.exceptions.Exit(code)


async def _add_all(app: App, urls: tuple[str, ...], wish: AddOptions, as_json: bool) -> list[AddResult]:
    done = []
    for url in urls:
        for added in await _add(app, url, wish):
            done.append(added)
            _print(added, as_json)
    if not as_json and not wish.user and any(one.status == "added" for one in done) and await count_users(app.db):
        print_text("nobody reads it yet: 'feedmill add --user NAME URL' subscribes somebody")
    return done


async def _add(app: App, text: str, wish: AddOptions) -> list[AddResult]:
    try:
        address = parse_pasted_url(text)
    except BadUrl as error:
        return [AddResult(text, "failed", str(error), code=BAD_USAGE)]
    if wish.user:
        return [await _add_for(app, text, wish.user, wish)]
    if there := await _there(app, address.url):
        return [there]
    if not wish.fetch:
        return [await _add_unseen(app, address, wish, "it is fetched with the next refresh")]
    found = await discover_feeds_at(app.client, address.url, address.http_options)
    match found:
        case FetchedFeed():
            return [await _add_found(app, found, wish, address.http_options if found.url == address.url else None)]
        case PageFeeds():
            return await _add_of_page(app, found, wish)
        case NoFeed():
            return [await _add_nothing(app, address, found, wish)]


async def _add_for(app: App, url: str, user: str, wish: AddOptions) -> AddResult:
    seconds = None if wish.interval is None else int(wish.interval.total_seconds())
    try:
        settings = FeedSettings(title=wish.title, interval_seconds=seconds)
        done = await subscribe_user(app, user, url, settings, wish.folder, wish.anyway)
    except AlreadySubscribed:
        return AddResult(url, "exists", f"{user} is subscribed to {url} already")
    except (SeveralFeeds, NotSubscribable) as error:
        return AddResult(url, "failed", str(error), code=FAILED if error.more.get("may_pass") else BAD_USAGE)
    mine = done.subscription
    [feed] = await feeds_of_ids(app.db, [mine.feed_id])
    return AddResult(mine.url, "added", f"feed {feed.id} {mine.title} for {user}", feed, mine.unread_count)


async def _there(app: App, url: str) -> AddResult | None:
    """A feed that is there already; from now on a person wants it too."""
    if ids := list((await feed_ids_by_any_url(app.db, [url])).values()):
        await mark_added_by_person(app.db, ids, datetime.now(UTC))
        [feed] = await feeds_of_ids(app.db, ids)
        return AddResult(url, "exists", f"{url} is there already: feed {feed.id} {feed.name}", feed)
    return None


async def _add_found(app: App, found: FetchedFeed, wish: AddOptions, http_options: str | None = None) -> AddResult:
    if there := await _there(app, found.url):
        return there
    options = encrypt_options(app.tools.encryption, http_options)
    feed, decision = await add_fetched_feed(app.tools, wish.feed(found.url, options, found.parsed.title), found)
    new = len(decision.changes.new) if isinstance(decision, Updated) else 0
    entries = pluralize(new, "entry", "entries")
    return AddResult(found.url, "added", f"feed {feed.id} {feed.name}, {entries}", feed, new)


async def _add_of_page(app: App, page: PageFeeds, wish: AddOptions) -> list[AddResult]:
    if not wish.best and not wish.every:
        hint = f"{page.url} has {len(page.feeds)} feeds: add one by its URL, or use --best or --all"
        return [AddResult(page.url, "choices", hint, choices=page.feeds, code=BAD_USAGE)]
    lots = [[feed] for feed in page.feeds] if wish.every else [list(page.feeds)]
    return [await _add_first(app, lot, wish) for lot in lots]


async def _add_first(app: App, found: list[DiscoveredFeed], wish: AddOptions) -> AddResult:
    """Adds the first of these that is there or can be had."""
    url = found[0].url
    if there := await _there(app, parse_pasted_url(url).url):
        return there
    answer = await first_working_feed(app.client, found)
    return (
        await _add_found(app, answer, wish)
        if answer
        else AddResult(url, "failed", f"{url}: there is no feed", code=FAILED)
    )


async def _add_nothing(app: App, address: PastedUrl, nothing: NoFeed, wish: AddOptions) -> AddResult:
    if wish.anyway:
        return await _add_unseen(app, address, wish, f"although it can't be fetched now: {nothing.reason}")
    hint = "; --anyway adds it all the same" if nothing.may_pass else ""
    return AddResult(
        nothing.url, "failed", f"{nothing.url}: {nothing.reason}{hint}", code=FAILED if nothing.may_pass else BAD_USAGE
    )


async def _add_unseen(app: App, address: PastedUrl, wish: AddOptions, how: str) -> AddResult:
    now = datetime.now(UTC)
    options = encrypt_options(app.tools.encryption, address.http_options)
    await add_feeds(app.db, [wish.feed(address.url, options)], now, now)
    [feed] = await feeds_of_ids(app.db, list((await feed_ids_by_any_url(app.db, [address.url])).values()))
    return AddResult(address.url, "added", f"feed {feed.id} {feed.name}, {how}", feed)


def _print(added: AddResult, as_json: bool) -> None:
    if as_json:
        print_record(_record(added))
    elif added.status == "added":
        print_text(f"added {added.message}")
    elif added.status == "exists":
        print_text(added.message)
    else:
        print_text(f"feedmill: {added.message}", err=True)
        for choice in added.choices:
            print_text(f"  {choice.url}  {choice.title}".rstrip(), err=True)


def _record(added: AddResult) -> dict[str, Any]:
    names = ("url", "title", "type", "why")
    choices = [{name: getattr(choice, name) for name in names} for choice in added.choices]
    return {
        "url": added.feed.url if added.feed else added.url,
        "status": added.status,
        "feed_id": added.feed.id if added.feed else None,
        "title": added.feed.name if added.feed else None,
        "new_entries": added.new_entries,
        "message": added.message,
        "choices": choices,
    }
