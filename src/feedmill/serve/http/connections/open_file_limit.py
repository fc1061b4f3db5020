"""Raises the limit of open files and computes how many client connections fit."""

import resource

from feedmill.lazy_loggers import get_logger
from feedmill.settings import Settings

log = get_logger(__name__)

# For the database, Redis, objects, logs and Python itself.
RESERVED_FILES = 128
MIN_CONNECTIONS = 16
# A low assumption for a system that does not report its limit.
ASSUMED_LIMIT = 256


def reserve_open_files(settings: Settings) -> int:
    """Raises the limit of open files as far as needed and allowed; returns how many clients may be connected."""
    reserved = reserved_files(settings)
    limit = _raise_limit(settings.max_connections + reserved)
    connections = max(MIN_CONNECTIONS, min(settings.max_connections, limit - reserved))
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


def reserved_files(settings: Settings) -> int:
    """Each fetch may have two sockets open, during a redirect to another server, and a file."""
    return RESERVED_FILES + 3 * (settings.fetches_at_once + settings.images_at_once)


def _raise_limit(needed: int) -> int:
    """Raises the limit to `needed` if the system allows it; returns the new limit."""
    try:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    except OSError:
        return ASSUMED_LIMIT
    if soft == resource.RLIM_INFINITY:
        return needed
    if soft >= needed:
        return soft
    raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    except (OSError, ValueError):
        # Forbidden by systemd's SystemCallFilter=~@resources and in some containers.
        return soft
    return raised
