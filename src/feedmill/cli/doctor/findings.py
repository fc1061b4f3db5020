"""What the doctor finds: a text, how bad it is, and the command or setting that helps."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from feedmill.i18n.messages import Message
from feedmill.settings import Settings
from feedmill.store.database import Database


class Severity(StrEnum):
    """An error stops a part of the installation; a warning will sooner or later, or is for a person to decide."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """`text` says what is found and why it matters; `remedy` is the command or setting that helps."""

    severity: Severity
    text: Message
    remedy: Message | None = None

    @property
    def code(self) -> str:
        """A stable name, for programs."""
        return self.text.code.partition(".")[2]


def ok(text: Message) -> Finding:
    return Finding(Severity.OK, text)


def warning(text: Message, remedy: Message) -> Finding:
    return Finding(Severity.WARNING, text, remedy)


def error(text: Message, remedy: Message) -> Finding:
    return Finding(Severity.ERROR, text, remedy)


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What the checks look at. `db` is None unless the database answers and its schema is up to date."""

    settings: Settings
    now: datetime
    db: Database | None


Check = Callable[[CheckContext], AsyncIterator[Finding]]
