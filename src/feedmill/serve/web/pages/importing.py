"""`/import` and `/export`: lists of feeds come from other readers, and go to them."""

import msgspec
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from feedmill.collect.decode import decode
from feedmill.errors import BadInput, TooLarge
from feedmill.library.exporting import export, export_some
from feedmill.library.importing import Plan, carry_out, plan_import
from feedmill.library.opml import MAX_BYTES
from feedmill.library.starred import MEDIA_TYPE as JSON_FEED
from feedmill.library.starred import export_starred
from feedmill.model.account import User
from feedmill.serve.web.choices import folder_choices, number
from feedmill.serve.web.page import form, go, show, signed_in, text, the_app, the_work
from feedmill.store.batches import IMPORT

MEDIA_TYPE = "text/x-opml; charset=utf-8"
# What a form adds around the list, and what a browser adds to the ends of its lines.
MOST_BYTES = MAX_BYTES + MAX_BYTES // 4
SHOWN = 200


async def ask(request: Request) -> Response:
    caller = await signed_in(request)
    return await _shown(request, caller.user)


async def take(request: Request) -> Response:
    """First what would happen; the same list sent again with `do=import` makes it so."""
    caller = await signed_in(request)
    try:
        sent = await form(request, MOST_BYTES)
    except TooLarge:
        return await _shown(request, caller.user, "import.too_large", 413)
    opml = await _list(sent)
    await sent.close()
    if not opml.strip():
        return await _shown(request, caller.user, "import.empty", 422)
    try:
        plan = await plan_import(the_app(request).db, caller.user, opml)
    except BadInput as error:
        return await _shown(request, caller.user, "import.unreadable", 422, str(error))
    if text(sent, "do") == "import":
        return await _carried_out(request, caller.user, plan)
    written = decode(opml).text
    return await show(request, "import_preview.html", plan=plan, opml=written, shown=SHOWN, active="/import")


async def _list(sent: FormData) -> bytes:
    """The file, or what was pasted."""
    file = sent.get("file")
    uploaded = await file.read() if isinstance(file, UploadFile) else b""
    return uploaded or text(sent, "opml").encode()


async def _carried_out(request: Request, user: User, plan: Plan) -> Response:
    app = the_app(request)
    feed_ids = await carry_out(app.db, user, plan, app.tools.clock())
    report = msgspec.json.encode(plan.report()).decode()
    job_id, _ = await the_work(request).refresh(IMPORT, feed_ids, user.id, report=report)
    return go(f"/jobs/{job_id}")


async def give(request: Request) -> Response:
    """All feeds as OPML, or those of a folder, or those that are named."""
    caller = await signed_in(request)
    app, asked = the_app(request), request.query_params
    now = app.tools.clock()
    if ids := [number(each) for each in asked.getlist("id")]:
        body = await export_some(app.db, caller.user.id, set(ids), now)
    else:
        folder = asked.get("folder", "")
        body = await export(app.db, caller.user.id, number(folder) if folder else None, now)
    headers = {"Content-Disposition": f'attachment; filename="feedmill-{now:%Y-%m-%d}.opml"'}
    return Response(body, media_type=MEDIA_TYPE, headers=headers)


async def give_starred(request: Request) -> Response:
    """What was starred, as JSON Feed."""
    caller = await signed_in(request)
    app = the_app(request)
    now = app.tools.clock()
    headers = {"Content-Disposition": f'attachment; filename="feedmill-starred-{now:%Y-%m-%d}.json"'}
    return StreamingResponse(export_starred(app.db, caller.user.id, now), media_type=JSON_FEED, headers=headers)


async def _shown(request: Request, user: User, wrong: str = "", status: int = 200, detail: str = "") -> Response:
    folders = await folder_choices(the_app(request).db, user.id)
    return await show(request, "import.html", status, folder_choices=folders, wrong=wrong, detail=detail)


routes = [
    Route("/import", ask, methods=["GET"]),
    Route("/import", take, methods=["POST"]),
    Route("/export", give, methods=["GET"]),
    Route("/export/starred", give_starred, methods=["GET"]),
]
