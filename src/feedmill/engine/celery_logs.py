"""Turns Celery's log lines about a missing broker into one outage in our log."""

import logging
import re

from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.errors import EngineUnavailable

# Celery says it in many modules and sentences, but always with the connection or its error in them.
BROKER_UNAVAILABLE_PATTERN = re.compile(
    r"Cannot connect to|Connection to (?:broker|Redis) lost|Connection error|network:\w+"
    r"|Error \d+ (?:while writing|connecting)|ConnectionError|TimeoutError|Timeout connecting"
)


class OutageHandler(logging.Handler):
    """Hands on every record of Celery's loggers but those that an outage in our log says already."""

    def emit(self, record: logging.LogRecord) -> None:
        if _is_news(record):
            logging.getLogger().callHandlers(record)


def log_as_outages() -> None:
    """Once for a process; again does no harm."""
    celery = logging.getLogger("celery")
    celery.handlers[:] = [OutageHandler()]
    celery.propagate = False
    logging.getLogger("py.warnings").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether the record is not about a broker that is away; if it is, it counts for the outage."""
    text = record.getMessage()
    if not BROKER_UNAVAILABLE_PATTERN.search(text):
        return True
    DEPENDENCY_OUTAGES.failed("take_messages", EngineUnavailable(text.partition("\n")[0]))
    return False
