"""The two errors of a request: refused for good, or worth a retry."""

from feedmill.i18n.messages import Message
from feedmill.model.fetch_outcome import RefusedKind, RetryableKind


class RefusedError(Exception):
    """The request or its response breaks a rule of ours; a retry would too."""

    def __init__(self, kind: RefusedKind, message: Message) -> None:
        super().__init__(message)
        self.message = message
        self.kind: RefusedKind = kind


class RetryableError(Exception):
    """The request failed in a way that may pass."""

    def __init__(self, kind: RetryableKind, message: Message) -> None:
        super().__init__(message)
        self.message = message
        self.kind: RetryableKind = kind
