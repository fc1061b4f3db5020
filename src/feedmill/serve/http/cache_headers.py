"""Headers about caching: Cache-Control, ETag."""

from starlette.requests import Request

CACHE_FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}
NO_STORE = {"Cache-Control": "no-store"}


def matches_etag(request: Request, etag: str) -> bool:
    """Whether `If-None-Match` contains the ETag."""
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    return etag.removeprefix("W/") in known or known == ["*"]
