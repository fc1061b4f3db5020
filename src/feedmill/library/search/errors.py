"""The error of a search query that can't be understood."""

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message


class BadSearch(BadInput):
    """The search text can't be understood; `reason` says why, `position` is where, counted from 0."""

    code = "bad_search"

    def __init__(self, reason: Message, position: int) -> None:
        super().__init__(Message("bad_search.at_position", reason=reason, n=position + 1), "q")
        self.reason, self.position = reason, position
        self.more = {"position": position}
