"""`/api/services`: services that articles are saved to (Linkding, Wallabag …), and saving to them."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from feedmill.api_schemas.response_body import MessageText
from feedmill.app import App
from feedmill.library.cursors import cursor_at
from feedmill.model.max_id import MAX_ID
from feedmill.model.services.save_service import SaveService, SaveStatus, ServiceKind, ServiceSave
from feedmill.serve.http.paginate import decode_cursor, split_page
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import Id, LongText, PathId, ShortText, StrictBool
from feedmill.serve.rest.core.page_parameters import Cursor, Limit

router = APIRouter(prefix="/services", tags=["services"])

KindName = Literal["wallabag", "linkding", "karakeep", "readwise", "instapaper", "raindrop", "omnivore", "template"]
ByKey = Annotated[StrictBool, Field(description="Whether the key S, and a request without `service_ids`, saves to it.")]


class ServiceOptionFields(RequestBody):
    """The options of a service; which of them a kind has is on the page about services.

    A secret that is left out stays, as long as the address stays.
    """

    address: LongText | None = None
    token: LongText | None = None
    username: LongText | None = None
    password: LongText | None = None
    client_id: LongText | None = None
    client_secret: LongText | None = None
    tags: LongText | None = Field(default=None, description="Separated by commas.")
    collection: LongText | None = None
    method: LongText | None = None
    headers: LongText | None = Field(default=None, description="One on a line.")
    body_format: LongText | None = None
    body: LongText | None = None

    def written(self) -> dict[str, str]:
        return self.model_dump(exclude_none=True)


class NewService(RequestBody):
    kind: KindName
    name: ShortText
    options: ServiceOptionFields
    by_key: ByKey = True


class ServiceChanges(RequestBody):
    """Fields that are left out are not changed; `options` are replaced as a whole."""

    name: ShortText | None = None
    options: ServiceOptionFields | None = None
    by_key: ByKey | None = None


class ServiceResponse(BaseModel):
    id: int
    kind: ServiceKind
    name: str
    options: dict[str, str] = Field(description="The options without the secrets.")
    secrets: list[str] = Field(description="The names of the secrets that are stored.")
    by_key: bool
    last_success_at: datetime | None
    last_error: MessageText | None
    created_at: datetime


class ServicePage(BaseModel):
    items: list[ServiceResponse]
    next: None = Field(default=None, description="Always null: there is one page.")


class EntriesToSave(RequestBody):
    entry_ids: Annotated[list[Id], Field(min_length=1, max_length=1000)]
    service_ids: Annotated[list[Id], Field(min_length=1, max_length=20)] | None = Field(
        default=None, description="Without it, the services of the keyboard shortcut."
    )


class SavesQueued(BaseModel):
    entries: int = Field(description="The number of entries, without those that you may not see.")
    service_ids: list[int]


class SaveResponse(BaseModel):
    id: int
    entry_id: int
    status: SaveStatus
    attempts: int
    next_attempt_at: datetime | None
    http_status: int | None
    last_error: MessageText | None
    created_at: datetime
    finished_at: datetime | None


class SavePage(BaseModel):
    items: list[SaveResponse]
    next: str | None


class SavesRetried(BaseModel):
    retried: int


@router.get("")
async def list_services(app: TheApp, who: Reader) -> ServicePage:
    """Your services; never their secrets."""
    return ServicePage(items=[await _response(app, each) for each in await app.services.all(who.user.id)])


@router.post("", status_code=201)
async def create_service(app: TheApp, who: Writer, new: NewService) -> ServiceResponse:
    """Adds a service. Its options are stored encrypted."""
    made = await app.services.create(
        who.user.id, ServiceKind(new.kind), new.name, new.options.written(), by_key=new.by_key
    )
    return await _response(app, made)


@router.post("/save", status_code=202, responses=problem_responses(404))
async def save_to_services(app: TheApp, who: Writer, wanted: EntriesToSave) -> SavesQueued:
    """Saves entries within seconds. What a service has already is not sent again; what failed is."""
    queued = await app.services.save(who.user.id, wanted.entry_ids, wanted.service_ids)
    return SavesQueued(entries=queued.entries, service_ids=[service.id for service in queued.services])


@router.get("/{service_id:int}", responses=problem_responses(404))
async def read_service(app: TheApp, who: Reader, service_id: PathId) -> ServiceResponse:
    return await _response(app, await app.services.one(who.user.id, service_id))


@router.patch("/{service_id:int}", responses=problem_responses(404))
async def change_service(app: TheApp, who: Writer, service_id: PathId, changes: ServiceChanges) -> ServiceResponse:
    """Changes a service; what waits for it is sent at once."""
    written = None if changes.options is None else changes.options.written()
    changed = await app.services.change(who.user.id, service_id, changes.name, written, changes.by_key)
    return await _response(app, changed)


@router.delete("/{service_id:int}", status_code=204, responses=problem_responses(404))
async def delete_service(app: TheApp, who: Writer, service_id: PathId) -> None:
    """Deletes a service with the list of what was saved to it."""
    await app.services.delete(who.user.id, service_id)


@router.get("/{service_id:int}/saves", responses=problem_responses(404))
async def list_saves(
    app: TheApp, who: Reader, service_id: PathId, limit: Limit = 50, cursor: Cursor = None
) -> SavePage:
    """What was saved to a service and how it went, newest first."""
    found = await app.services.saves(who.user.id, service_id, decode_cursor(cursor, MAX_ID), limit + 1)
    page, last = split_page(found, limit)
    return SavePage(items=[_save(each) for each in page], next=cursor_at(last.id) if last else None)


@router.post("/{service_id:int}/retry", status_code=202, responses=problem_responses(404))
async def retry_saves(app: TheApp, who: Writer, service_id: PathId) -> SavesRetried:
    """Tries everything that failed again."""
    return SavesRetried(retried=await app.services.retry(who.user.id, service_id))


async def _response(app: App, service: SaveService) -> ServiceResponse:
    shown = await app.services.shown_options(service)
    values = {name: getattr(service, name, None) for name in ServiceResponse.model_fields}
    return ServiceResponse.model_validate(values | {"options": dict(shown.values), "secrets": sorted(shown.kept)})


def _save(save: ServiceSave) -> SaveResponse:
    return SaveResponse.model_validate({name: getattr(save, name) for name in SaveResponse.model_fields})
