"""Imports adapters and commands by name when they are needed; names the extra that installs a missing library."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any

from feedmill.errors import BadSetting

# Optional packages, and the extra of feedmill that installs each.
EXTRA_OF_PACKAGE = {
    "asyncpg": "postgres",
    "asyncmy": "mysql",
    "obstore": "s3",
    "celery": "scale",
    "kombu": "scale",
    "redis": "scale",
    "re2": "regex",
    "apprise": "notify",
    "mcp": "mcp",
    "py_vapid": "notify",
    "pywebpush": "notify",
    "authlib": "oidc",
    "joserfc": "oidc",
}


class MissingExtra(BadSetting):
    """A chosen adapter needs a library that is not installed."""


def import_by_name(name: str) -> Any:
    """Imports `module:attribute`; raises `MissingExtra` when an optional library of it is not installed."""
    try:
        with gc_disabled():
            return resolve_name(name)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRA_OF_PACKAGE:
            raise
        raise _missing_extra(package) from error


def check_installed(package: str) -> None:
    """Raises `MissingExtra` when an optional package is not installed; imports nothing."""
    if not is_installed(package):
        raise _missing_extra(package)


def is_installed(package: str) -> bool:
    return find_spec(package) is not None


def _missing_extra(package: str) -> MissingExtra:
    extra = EXTRA_OF_PACKAGE[package]
    return MissingExtra(f"this needs {package}, which is not installed: pip install 'feedmill[{extra}]'")


@contextmanager
def hidden_package(name: str) -> Iterator[None]:
    """Makes imports of a package in the block fail as if it were not installed, for a library that can do without it.

    Does nothing if the package is imported already.
    """
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Disables the garbage collector: imports create hardly any garbage, and collecting takes a tenth of their time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
