"""How we ask for an image: as a browser would that shows the entry's page, but never with a stranger's secrets."""

from dataclasses import replace

import msgspec

from feedmill.model.image import ImageTask
from feedmill.outbound.failures import Rejected
from feedmill.outbound.options import FetchOptions
from feedmill.outbound.urls import Target, parse

ACCEPT = "image/webp, image/png, image/jpeg, image/gif, image/avif;q=0.9, image/*;q=0.8, */*;q=0.5"


def options_for(task: ImageTask) -> FetchOptions:
    """The feed's own options at the feed's own host; elsewhere only how it wants to be reached."""
    options = msgspec.json.decode(task.http_options, type=FetchOptions) if task.http_options else FetchOptions()
    image, feed = _target(task.url), _target(task.feed_url)
    if image is None or feed is None or not feed.may_share_secrets_with(image):
        options = FetchOptions(proxy=options.proxy, user_agent=options.user_agent)
    headers = {"Accept": ACCEPT, **_referer(task.link, image), **options.headers}
    return replace(options, headers=headers)


def _referer(link: str | None, image: Target | None) -> dict[str, str]:
    """Publishers who serve images to their own pages only want to hear of one; others hear of the site, no more."""
    page = _target(link or "")
    if page is None or image is None or (page.scheme, image.scheme) == ("https", "http"):
        return {}
    is_same_site = (page.scheme, page.host, page.port) == (image.scheme, image.host, image.port)
    return {"Referer": page.url if is_same_site else replace(page, path="/").url}


def _target(url: str) -> Target | None:
    try:
        return parse(url)
    except Rejected:
        return None
