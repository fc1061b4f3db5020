"""Structured logs: JSON for machines, pretty on a terminal, and never a secret in them."""

import logging
import os
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from feedmill.model.terminal import harmless
from feedmill.settings import Settings

HIDDEN = "***"
SECRET_NAMES = re.compile(r"password|secret|token|authorization|cookie|api_key", re.IGNORECASE)
# A password inside a URL: scheme://name:password@host
URL_PASSWORD = re.compile(r"(?P<before>[a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+@", re.IGNORECASE)


def set_up(settings: Settings) -> None:
    """Sends the logs of Feedmill and of its libraries to stderr in one form."""
    pretty = settings.log_format == "pretty" or (settings.log_format == "auto" and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        hide_secrets,
    ]
    last = _on_a_terminal if pretty else structlog.processors.JSONRenderer(ensure_ascii=False)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(settings.log_level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=last, foreign_pre_chain=shared))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())


def _on_a_terminal(logger: Any, method: str, event: MutableMapping[str, Any]) -> str:
    shown = {name: harmless(value) if isinstance(value, str) else value for name, value in event.items()}
    return structlog.dev.ConsoleRenderer(colors=not os.environ.get("NO_COLOR"))(logger, method, shown)


def hide_secrets(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in event.items():
        event[name] = _shown(name, value)
    return event


def without_secrets(value: object) -> object:
    """The value with every password and token in it hidden, however deep."""
    match value:
        case str():
            return URL_PASSWORD.sub(rf"\g<before>{HIDDEN}@", value)
        case BaseException():
            return without_secrets(repr(value))
        case dict():
            return {name: _shown(str(name), part) for name, part in value.items()}
        case list() | tuple():
            return [without_secrets(part) for part in value]
    return value


def _shown(name: str, value: object) -> object:
    return HIDDEN if SECRET_NAMES.search(name) else without_secrets(value)
