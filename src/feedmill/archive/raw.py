"""Raw bodies: every body that differs from the last one is kept byte for byte, before anything reads it."""

import msgspec

from feedmill.archive.blobs import Blobs
from feedmill.archive.keys import backup_key
from feedmill.model.outcome import Response
from feedmill.model.refresh import RawBody

CONTENT_TYPE = "application/xml"


async def keep_raw(blobs: Blobs, feed_id: int, response: Response, sha256: str) -> RawBody:
    """Keeps the body and tells where; the row that lists it is written with the refresh."""
    key = backup_key(feed_id, response.fetched_at)
    await blobs.put(key, response.body, CONTENT_TYPE)
    return RawBody(
        key=key,
        sha256=sha256,
        size=len(response.body),
        headers=msgspec.json.encode(dict(response.headers)).decode(),
        http_status=response.status,
        fetched_at=response.fetched_at,
    )
