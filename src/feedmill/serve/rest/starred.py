"""`/api/entries/export`: what the caller starred, to keep or to take elsewhere."""

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from feedmill.library.starred import MEDIA_TYPE, export_starred
from feedmill.serve.rest.parts import Reader, TheApp

router = APIRouter(prefix="/entries", tags=["entries"])

DESCRIBED = {"description": "A JSON Feed (version 1.1)", "content": {MEDIA_TYPE: {"schema": {"type": "object"}}}}


@router.get("/export", response_class=StreamingResponse, responses={200: DESCRIBED})
async def export_starred_entries(app: TheApp, who: Reader) -> StreamingResponse:
    """All starred entries with their texts as one JSON Feed, what was starred last first.

    Labels are its tags; `_feedmill` has the feed that an entry is from, and when it was starred.
    """
    body = export_starred(app.db, who.user.id, app.tools.clock())
    headers = {"Content-Disposition": 'attachment; filename="feedmill-starred.json"', "Cache-Control": "no-store"}
    return StreamingResponse(body, media_type=MEDIA_TYPE, headers=headers)
