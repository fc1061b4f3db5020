"""Checks how people reach the server: accounts, its address, proxies, single sign-on."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from ipaddress import ip_address

from feedmill.cli.doctor.findings import CheckContext, Finding, error, ok, warning
from feedmill.i18n.messages import Message
from feedmill.optional_imports import is_installed
from feedmill.outbound.own_site import ask_own_site
from feedmill.serve.data_lock import lock_holder
from feedmill.settings import Network, Settings
from feedmill.store.admin.failure_counts import session_addresses
from feedmill.store.users.users import count_users

LOOPBACK_NAMES = frozenset({"localhost", "ip6-localhost"})
SESSIONS_SINCE = timedelta(days=30)
# With fewer users than this, one address for all may be their home.
MIN_USERS_BEHIND_PROXY = 3


async def check_accounts(context: CheckContext) -> AsyncIterator[Finding]:
    if context.db is None:
        return
    if n := await count_users(context.db):
        yield ok(Message("doctor.accounts_ok", n=n))
    elif is_loopback(context.settings.listen) and not context.settings.public_url:
        yield ok(Message("doctor.no_account"))
    else:
        yield warning(Message("doctor.first_visitor_is_admin"), Message("doctor.first_visitor_is_admin_help"))


def is_loopback(listen: str) -> bool:
    """Whether only this machine reaches a server that listens there."""
    try:
        return ip_address(listen).is_loopback
    except ValueError:
        return listen in LOOPBACK_NAMES


async def check_public_url(context: CheckContext) -> AsyncIterator[Finding]:
    settings = context.settings
    if not settings.public_url:
        if not is_loopback(settings.listen):
            yield warning(Message("doctor.public_url_empty"), Message("doctor.public_url_empty_help"))
        return
    if not settings.redis.get_secret_value() and lock_holder(settings.data) is None:
        return  # no server runs that could answer
    problem = await asyncio.to_thread(ask_own_site, settings.public_url)
    if problem is None:
        yield ok(Message("doctor.public_url_ok", url=settings.public_url))
    else:
        text = Message("doctor.public_url_wrong", url=settings.public_url, reason=problem)
        yield warning(text, Message("doctor.public_url_wrong_help", listen=_listening_address(settings)))


def _listening_address(settings: Settings) -> str:
    return f"{settings.listen}:{settings.port}"


async def check_proxies(context: CheckContext) -> AsyncIterator[Finding]:
    """A proxy that is not trusted makes all visitors seem to come from its own address."""
    if context.db is None or not context.settings.public_url:
        return
    users = await session_addresses(context.db, context.now - SESSIONS_SINCE)
    addresses = {address for _, address in users}
    if len({user for user, _ in users}) >= MIN_USERS_BEHIND_PROXY and len(addresses) == 1:
        [address] = addresses
        if not _is_in(address, context.settings.trusted_proxies):
            text = Message("doctor.one_visitor_address", address=address)
            yield warning(text, Message("doctor.one_visitor_address_help", address=address))


def _is_in(address: str, networks: tuple[Network, ...]) -> bool:
    try:
        return any(ip_address(address) in network for network in networks)
    except ValueError:
        return False


async def check_sign_in(context: CheckContext) -> AsyncIterator[Finding]:
    settings = context.settings
    if settings.oidc and not is_installed("authlib"):
        yield error(Message("doctor.oidc_extra_missing"), Message("doctor.oidc_extra_missing_help"))
    if settings.sign_in_header and not settings.sign_in_header_from:
        text = Message("doctor.sign_in_header_ignored", header=settings.sign_in_header)
        yield error(text, Message("doctor.sign_in_header_ignored_help"))
