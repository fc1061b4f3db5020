"""Why a sign-in with a provider fails."""

from feedmill.errors import InfrastructureError, NotAllowed
from feedmill.i18n.messages import Message


class ProviderSignInRefused(NotAllowed):
    """The sign-in can't be trusted, or its user has no account. `reason` is for the log."""

    code = "sign_in_refused"

    def __init__(self, message: Message, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class ProviderUnavailable(InfrastructureError):
    """The provider can't be reached, or what it answers can't be used. Trying again later may help."""
