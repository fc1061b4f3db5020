"""Stores raw bodies byte for byte, before anything parses them."""

import msgspec

from feedmill.archive.blobs import Blobs
from feedmill.archive.object_keys import raw_body_key
from feedmill.model.fetch_outcome import Response
from feedmill.model.refresh import RawBody

CONTENT_TYPE = "application/xml"


async def store_raw_body(blobs: Blobs, feed_id: int, response: Response, sha256: str) -> RawBody:
    """Stores the body and returns its record; the row is written with the refresh."""
    key = raw_body_key(feed_id, response.fetched_at)
    await blobs.put(key, response.body, CONTENT_TYPE)
    return RawBody(
        key=key,
        sha256=sha256,
        size=len(response.body),
        headers=msgspec.json.encode(dict(response.headers)).decode(),
        http_status=response.status,
        fetched_at=response.fetched_at,
    )
