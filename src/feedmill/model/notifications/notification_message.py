"""A message to a notification target."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class InlinePicture:
    """A picture inside a mail, which its HTML names as `cid:` and the name."""

    name: str
    content_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class NotificationMessage:
    """`html` is for mail, which has both. Browsers show `short`, which has no addresses, and open our page `path`."""

    title: str
    body: str
    html: str = ""
    short: str = ""
    path: str = "/"
    pictures: tuple[InlinePicture, ...] = ()
