"""`/import` and `/export`: imports and exports OPML, and exports the starred entries."""

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from feedmill.collect.parsing.decode import decode
from feedmill.errors import BadInput, TooLarge
from feedmill.i18n.messages import Message
from feedmill.library.entries.export_starred import MEDIA_TYPE as JSON_FEED
from feedmill.library.entries.export_starred import export_starred
from feedmill.library.subscriptions.export_opml import export_opml, export_selected_opml
from feedmill.library.subscriptions.import_opml import ImportPlan, import_and_fetch, plan_import
from feedmill.library.subscriptions.opml import MAX_BYTES
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app, the_jobs
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.form_fields import FILE, TEXT, accepts_form, one_of
from feedmill.serve.web.core.read_form import checked_form, form_text, read_id
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.serve.web.feeds.subscription_fields import folder_options

MEDIA_TYPE = "text/x-opml; charset=utf-8"
# The size of what a form adds around the file, and a browser to its line ends.
MAX_UPLOAD_BYTES = MAX_BYTES + MAX_BYTES // 4
MAX_SHOWN = 200


async def show_import(request: Request) -> Response:
    caller = await signed_in(request)
    return await _shown(request, caller.user)


@accepts_form({"file": FILE, "opml": TEXT.optional, "do": one_of("import").optional})
async def import_feeds(request: Request) -> Response:
    """Previews the import; the same file sent again with `do=import` is imported."""
    caller = await signed_in(request)
    try:
        sent = await checked_form(request, MAX_UPLOAD_BYTES)
    except TooLarge:
        return await _shown(request, caller.user, "import.too_large", 413)
    opml = await _uploaded_list(sent)
    await sent.close()
    if not opml.strip():
        return await _shown(request, caller.user, "import.empty", 422)
    try:
        plan = await plan_import(the_app(request).db, caller.user, opml)
    except BadInput as error:
        return await _shown(request, caller.user, "import.unreadable", 422, error.message)
    if form_text(sent, "do") == "import":
        return await _run_import(request, caller.user, plan)
    written = decode(opml).text
    return await render_page(
        request, "subscriptions/import_preview.html", plan=plan, opml=written, shown=MAX_SHOWN, active="/import"
    )


async def _uploaded_list(sent: FormData) -> bytes:
    """The uploaded file, or the pasted text."""
    file = sent.get("file")
    uploaded = await file.read() if isinstance(file, UploadFile) else b""
    return uploaded or form_text(sent, "opml").encode()


async def _run_import(request: Request, user: User, plan: ImportPlan) -> Response:
    app = the_app(request)
    job_id = await import_and_fetch(the_jobs(request), app.tools, user, plan)
    return redirect(f"/jobs/{job_id}")


async def export_feeds(request: Request) -> Response:
    """All feeds as OPML, those of a folder, or the selected ones."""
    caller = await signed_in(request)
    app, asked = the_app(request), request.query_params
    now = app.tools.clock()
    if ids := [read_id(each) for each in asked.getlist("id")]:
        body = await export_selected_opml(app.db, caller.user.id, set(ids), now)
    else:
        folder = asked.get("folder", "")
        body = await export_opml(app.db, caller.user.id, read_id(folder) if folder else None, now)
    headers = {"Content-Disposition": f'attachment; filename="feedmill-{now:%Y-%m-%d}.opml"'}
    return Response(body, media_type=MEDIA_TYPE, headers=headers)


async def export_starred_entries(request: Request) -> Response:
    """The starred entries as JSON Feed."""
    caller = await signed_in(request)
    app = the_app(request)
    now = app.tools.clock()
    headers = {"Content-Disposition": f'attachment; filename="feedmill-starred-{now:%Y-%m-%d}.json"'}
    return StreamingResponse(export_starred(app.db, caller.user.id, now), media_type=JSON_FEED, headers=headers)


async def _shown(
    request: Request, user: User, wrong: str = "", status: int = 200, detail: Message | None = None
) -> Response:
    folders = await folder_options(the_app(request).db, user.id)
    return await render_page(
        request, "subscriptions/import.html", status, folder_choices=folders, wrong=wrong, detail=detail
    )


routes = [
    Route("/import", show_import, methods=["GET"]),
    Route("/import", import_feeds, methods=["POST"]),
    Route("/export", export_feeds, methods=["GET"]),
    Route("/export/starred", export_starred_entries, methods=["GET"]),
]
