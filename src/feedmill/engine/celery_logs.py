"""Turns Celery's log lines about a missing broker into one outage in our log."""

import logging
import re

from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.errors import EngineUnavailable
from feedmill.i18n.connection_errors import message_in_text

# Celery logs it in many modules and wordings, but always with the connection or its error.
BROKER_UNAVAILABLE_PATTERN = re.compile(
    r"Cannot connect to|Connection to (?:broker|Redis) lost|Connection error|network:\w+"
    r"|Error \d+ (?:while writing|connecting)|ConnectionError|TimeoutError|Timeout connecting"
)


class OutageHandler(logging.Handler):
    """Passes on the records of Celery's loggers, except those about an unavailable broker."""

    def emit(self, record: logging.LogRecord) -> None:
        if _is_not_outage(record):
            logging.getLogger().callHandlers(record)


def log_as_outages() -> None:
    """Installs the handler. Calling it again is harmless."""
    celery = logging.getLogger("celery")
    celery.handlers[:] = [OutageHandler()]
    celery.propagate = False
    logging.getLogger("py.warnings").addFilter(_is_not_outage)


def _is_not_outage(record: logging.LogRecord) -> bool:
    """Whether the record should be logged; one about an unavailable broker is recorded as an outage instead."""
    text = record.getMessage()
    if not BROKER_UNAVAILABLE_PATTERN.search(text):
        return True
    DEPENDENCY_OUTAGES.failed("take_messages", EngineUnavailable(message_in_text(text) or text.partition("\n")[0]))
    return False
