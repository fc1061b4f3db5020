"""The HTTP options of an image download: Accept, Referer, and the feed's login at its own host only."""

from dataclasses import replace

from feedmill.encryption import Encryption
from feedmill.model.fetch_options import FetchOptions
from feedmill.model.image import ImageTask
from feedmill.outbound.encrypted_options import decrypt_options, parse_options
from feedmill.outbound.errors import RefusedError
from feedmill.outbound.urls import RequestTarget, parse_url

ACCEPT = "image/webp, image/png, image/jpeg, image/gif, image/avif;q=0.9, image/*;q=0.8, */*;q=0.5"


def image_request_options(task: ImageTask, encryption: Encryption) -> FetchOptions:
    """The feed's options at the feed's own host; elsewhere only its proxy and User-Agent."""
    options = parse_options(decrypt_options(encryption, task.http_options))
    image, feed = _target(task.url), _target(task.feed_url)
    if image is None or feed is None or not feed.may_share_secrets_with(image):
        options = FetchOptions(proxy=options.proxy, user_agent=options.user_agent)
    headers = {"Accept": ACCEPT, **_referer(task.link, image), **options.headers}
    return replace(options, headers=headers)


def _referer(link: str | None, image: RequestTarget | None) -> dict[str, str]:
    """The page at its own site, because some publishers serve images only to their own pages; else only the site."""
    page = _target(link or "")
    if page is None or image is None or (page.scheme, image.scheme) == ("https", "http"):
        return {}
    is_same_site = (page.scheme, page.host, page.port) == (image.scheme, image.host, image.port)
    return {"Referer": page.url if is_same_site else replace(page, path="/").url}


def _target(url: str) -> RequestTarget | None:
    try:
        return parse_url(url)
    except RefusedError:
        return None
