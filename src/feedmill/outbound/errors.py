"""The two errors of a request: refused for good, or worth a retry."""

from feedmill.model.fetch_outcome import RefusedKind, RetryableKind


class RefusedError(Exception):
    """The request or its response breaks a rule of ours; a retry would too."""

    def __init__(self, kind: RefusedKind, detail: str) -> None:
        super().__init__(detail)
        self.kind: RefusedKind = kind


class RetryableError(Exception):
    """The request failed in a way that may pass."""

    def __init__(self, kind: RetryableKind, detail: str) -> None:
        super().__init__(detail)
        self.kind: RetryableKind = kind
