"""The two errors of a request: refused for good, or worth a retry."""

from feedmill.model.fetch_outcome import RefusedKind, RetryableKind


class RefusedError(Exception):
    """It breaks a rule of ours, and would again."""

    def __init__(self, kind: RefusedKind, detail: str) -> None:
        super().__init__(detail)
        self.kind: RefusedKind = kind


class RetryableError(Exception):
    """It failed in a way that may pass."""

    def __init__(self, kind: RetryableKind, detail: str) -> None:
        super().__init__(detail)
        self.kind: RetryableKind = kind
