"""`/api/feeds/import` and `/api/feeds/export`: imports and exports OPML."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.datastructures import UploadFile

from feedmill.api_schemas.opml_import import ImportResponse
from feedmill.errors import BadInput, TooLarge
from feedmill.i18n.messages import Message
from feedmill.library.subscriptions.export_opml import export_opml
from feedmill.library.subscriptions.import_opml import import_and_fetch, plan_import
from feedmill.library.subscriptions.opml import MAX_BYTES
from feedmill.model.max_id import MAX_ID
from feedmill.serve.http.body_limits import with_body_limit
from feedmill.serve.rest.core.dependencies import Reader, TheApp, TheJobs, Writer
from feedmill.serve.rest.core.errors import problem_responses

router = APIRouter(prefix="/feeds", tags=["feeds"])

MEDIA_TYPE = "text/x-opml; charset=utf-8"
# The size of what a form adds around the file.
MAX_UPLOAD_BYTES = MAX_BYTES + 100_000
_A_LIST = {"schema": {"type": "string", "format": "binary"}}
_A_FORM = {"schema": {"type": "object", "properties": {"file": _A_LIST["schema"]}, "required": ["file"]}}
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"text/x-opml": _A_LIST, "application/xml": _A_LIST, "multipart/form-data": _A_FORM},
    }
}


@router.post(
    "/import",
    status_code=202,
    openapi_extra=_BODY,
    responses={200: {"model": ImportResponse}, **problem_responses(400, 413)},
)
async def import_feeds(
    app: TheApp,
    work: TheJobs,
    who: Writer,
    request: Request,
    response: Response,
    dry_run: Annotated[bool, Query(description="Only report what would happen.")] = False,
) -> ImportResponse:
    """Subscribes to the feeds of an OPML file, in their folders, and fetches the new ones as a job."""
    plan = await plan_import(app.db, who.user, await _file(request))
    imported = ImportResponse(job_id=None, **plan.report())
    if dry_run:
        response.status_code = 200
        return imported
    job_id = await import_and_fetch(work, app.tools, who.user, plan)
    return imported.model_copy(update={"job_id": job_id})


@router.get(
    "/export",
    response_class=Response,
    responses={200: {"content": {"text/x-opml": {"schema": {"type": "string"}}}}, **problem_responses(404)},
)
async def export_feeds(
    app: TheApp, who: Reader, folder_id: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None
) -> Response:
    """Your feeds as OPML with their folders, or those of one folder; without passwords."""
    body = await export_opml(app.db, who.user.id, folder_id, app.tools.clock())
    headers = {"Content-Disposition": 'attachment; filename="feedmill.opml"', "Cache-Control": "no-store"}
    return Response(body, media_type=MEDIA_TYPE, headers=headers)


async def _file(request: Request) -> bytes:
    """The OPML that was sent, as the body or as a file of a form; reading stops at the size limit."""
    limited = with_body_limit(
        request, MAX_UPLOAD_BYTES, TooLarge(Message("error.opml_too_large", megabytes=MAX_BYTES // 1_000_000))
    )
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        return await limited.body()
    async with limited.form(max_files=1, max_fields=10) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise BadInput(Message("error.form_without_file"), "file")
        return await file.read()
