"""Raises the limit of open files and says how many client connections fit."""

import resource

from feedmill.lazy_loggers import get_logger
from feedmill.settings import Settings

log = get_logger(__name__)

# For the database, Redis, kept objects, logs and what Python itself opens.
RESERVED_FILES = 128
FEWEST_CONNECTIONS = 16
# What POSIX promises at least, for a system that tells us nothing.
ASSUMED_LIMIT = 256


def reserve_open_files(settings: Settings) -> int:
    """Raises the limit of open files as far as needed and allowed; returns how many clients may be connected."""
    reserved = _reserved_for_ourselves(settings)
    limit = _raise_limit(settings.max_connections + reserved)
    connections = max(FEWEST_CONNECTIONS, min(settings.max_connections, limit - reserved))
    log.info(
        "connection_limit", connections=connections, per_address=settings.connections_per_address, open_files=limit
    )
    if connections < settings.max_connections:
        log.warning(
            "connection_limit_reduced",
            connections=connections,
            wanted=settings.max_connections,
            open_files=limit,
            hint=f"allow {settings.max_connections + reserved} open files (systemd: LimitNOFILE=) or lower "
            "max_connections",
        )
    return connections


def _reserved_for_ourselves(settings: Settings) -> int:
    """Each fetch may have two sockets open, while it moves from one server to the next, and a file."""
    return RESERVED_FILES + 3 * (settings.fetches_at_once + settings.images_at_once)


def _raise_limit(wanted: int) -> int:
    """The limit that holds from now on: what is wanted, if the system allows it."""
    try:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    except OSError:
        return ASSUMED_LIMIT
    if soft == resource.RLIM_INFINITY:
        return wanted
    if soft >= wanted:
        return soft
    raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    except (OSError, ValueError):
        # systemd's SystemCallFilter=~@resources forbids it, and so do some containers.
        return soft
    return raised
