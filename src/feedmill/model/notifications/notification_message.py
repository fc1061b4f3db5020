"""A message to a notification target."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NotificationMessage:
    """`html` is for mail, which has both. Browsers show `short`, which has no addresses, and open our page `path`."""

    title: str
    body: str
    html: str = ""
    short: str = ""
    path: str = "/"
