"""Structured logs: JSON or pretty, secrets removed, the last lines kept in memory."""

import json
import logging
import os
import re
import sys
import threading
from collections import deque
from collections.abc import MutableMapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from feedmill.lazy_loggers import get_bound_fields
from feedmill.model.control_characters import replace_control_characters
from feedmill.model.feed import PRIVATE_URL_MARKER
from feedmill.model.timestamps import to_iso
from feedmill.optional_imports import hidden_package
from feedmill.settings import Settings

# structlog would import rich, 4.5 MB, for a form of tracebacks that our logs do not have.
with hidden_package("rich"):
    import structlog

REDACTED = "***"
SECRET_NAMES = re.compile(r"password|secret|token|authorization|cookie|api_key", re.IGNORECASE)
# A password in a URL: scheme://name:password@host; or a key in place of the name, in http and https URLs.
# The length of the scheme is limited: else the search would take quadratic time on a long word.
URL_PASSWORD = re.compile(
    r"(?P<before>[a-z][a-z0-9+.-]{0,30}://[^\s/:@]*:|https?://(?=[^\s/:?#]+@))[^\s/?#]+@", re.IGNORECASE
)
# A secret in the query of a URL: ?token=…
URL_KEY = re.compile(
    r"(?P<before>[?&#](?:[\w.-]*(?:token|secret|password|passwd|[_-]key|apikey|signature)|key|auth|sig|pass|pwd)=)[^\s&#]+",
    re.IGNORECASE,
)
# The user id in the URL of a private feed.
PRIVATE_FEED_OWNER = re.compile(rf"{PRIVATE_URL_MARKER}\d+")
# Events of level info that are not worth printing on a terminal.
ROUTINE_EVENTS = frozenset(
    {"connection_limit", "full_text_not_found", "images_archived", "maintenance_task_finished", "refresh_skipped"}
)
LEVELS = ("debug", "info", "warning", "error", "critical")


@dataclass(frozen=True, slots=True)
class LogLine:
    """One log event. `more` has its other fields as JSON."""

    at: datetime
    level: str
    event: str
    feed_id: int | None
    more: str


class LogBuffer:
    """The last log lines of this process, without the owners of private feeds."""

    def __init__(self, most: int = 1000, max_length: int = 4000) -> None:
        self._lines: deque[LogLine] = deque(maxlen=most)
        self._max_length = max_length

    def add(self, logger: Any, method: str, event: MutableMapping[str, Any]) -> str:
        """Stores an event; the last in a chain of structlog processors."""
        rest = {name: value for name, value in event.items() if name not in ("event", "level", "timestamp")}
        feed_id = rest.get("feed_id")
        self._lines.append(
            LogLine(
                at=datetime.fromisoformat(event["timestamp"]),
                level=event["level"],
                event=self._shorten(str(event["event"])),
                feed_id=feed_id if isinstance(feed_id, int) else None,
                more=self._shorten(json.dumps(rest, ensure_ascii=False, default=repr, skipkeys=True)) if rest else "",
            )
        )
        return ""

    def latest(
        self, min_level: str = "debug", text: str = "", feed_id: int | None = None, most: int = 200
    ) -> list[LogLine]:
        """The last lines of at least that level, that contain the text, about that feed; newest first."""
        levels, needle = LEVELS[LEVELS.index(min_level) :], text.casefold()
        found = [
            line
            for line in reversed(self._lines.copy())
            if line.level in levels
            and (feed_id is None or line.feed_id == feed_id)
            and needle in f"{line.event} {line.more}".casefold()
        ]
        return found[:most]

    def _shorten(self, text: str) -> str:
        return PRIVATE_FEED_OWNER.sub("", text)[: self._max_length]


class LogBufferHandler(logging.Handler):
    """Passes every record to the log buffer."""

    def emit(self, record: logging.LogRecord) -> None:
        self.format(record)


LOG_BUFFER = LogBuffer()


def set_up(settings: Settings) -> None:
    """Sends the logs of Feedmill and its libraries to stderr in one format."""
    on_terminal = settings.log_format == "auto" and sys.stderr.isatty()
    pretty = settings.log_format == "pretty" or on_terminal
    shared: list[Any] = [
        add_bound_fields,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        redact_event,
    ]
    last = _render_for_terminal if pretty else structlog.processors.JSONRenderer(ensure_ascii=False)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(settings.log_level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=last, foreign_pre_chain=shared))
    if on_terminal and settings.log_level != "debug":
        handler.addFilter(is_worth_a_line)
    buffer_handler = LogBufferHandler()
    buffer_handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=LOG_BUFFER.add, foreign_pre_chain=shared))
    root = logging.getLogger()
    root.handlers[:] = [handler, buffer_handler]
    root.setLevel(settings.log_level.upper())
    # Warnings and thread exceptions, which Python would write to stderr in its own format.
    logging.captureWarnings(True)
    threading.excepthook = _log_thread_exception


def _log_thread_exception(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is None or isinstance(args.exc_value, SystemExit):
        return
    name = args.thread.name if args.thread is not None else None
    structlog.get_logger(__name__).error("thread_crashed", thread=name, exc_info=args.exc_value)


def is_worth_a_line(record: logging.LogRecord) -> bool:
    """Whether a terminal shows the event: no routine work, and no start of the web server."""
    event = record.msg.get("event", "") if isinstance(record.msg, dict) else ""
    is_routine = event in ROUTINE_EVENTS or record.name.startswith("uvicorn")
    return record.levelno > logging.INFO or not is_routine


def _render_for_terminal(logger: Any, method: str, event: MutableMapping[str, Any]) -> str:
    clean = {
        name: replace_control_characters(value) if isinstance(value, str) else value for name, value in event.items()
    }
    clean["timestamp"] = f"{datetime.fromisoformat(event['timestamp']).astimezone():%H:%M:%S}"
    return structlog.dev.ConsoleRenderer(colors=not os.environ.get("NO_COLOR"))(logger, method, clean)


def add_bound_fields(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in get_bound_fields().items():
        event.setdefault(name, value)
    return event


def redact_event(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in event.items():
        event[name] = _redact_field(name, value)
    return event


def redact_secrets(value: object) -> object:
    """The value with all passwords and tokens replaced and times written in ISO 8601, at any depth."""
    match value:
        case str():
            return URL_KEY.sub(rf"\g<before>{REDACTED}", URL_PASSWORD.sub(rf"\g<before>{REDACTED}@", value))
        case datetime():
            return to_iso(value)
        case BaseException():
            return redact_secrets(repr(value))
        case dict():
            return {name: _redact_field(str(name), part) for name, part in value.items()}
        case list() | tuple():
            return [redact_secrets(part) for part in value]
    return value


def _redact_field(name: str, value: object) -> object:
    return REDACTED if SECRET_NAMES.search(name) else redact_secrets(value)
