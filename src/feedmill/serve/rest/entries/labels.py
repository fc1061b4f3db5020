"""`/api/labels`: lists, creates, renames and deletes labels."""

from fastapi import APIRouter

from feedmill.api_schemas.entries import LabelPage, LabelResponse
from feedmill.library.entries.labels import drop_label, find_label, labels_of_user, make_label, rename_label
from feedmill.model.entry_marks import UserLabel
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId
from feedmill.serve.rest.entries.change_schemas import LabelRequest

router = APIRouter(prefix="/labels", tags=["labels"])


@router.get("")
async def list_labels(app: TheApp, who: Reader) -> LabelPage:
    """All labels, by name."""
    found = await labels_of_user(app.db, who.user.id)
    return LabelPage(items=[_to_response(label) for label in found])


@router.post("", status_code=201, responses=problem_responses(409))
async def create_label(app: TheApp, who: Writer, body: LabelRequest) -> LabelResponse:
    return _to_response(await make_label(app.db, who.user.id, body.name))


@router.get("/{label_id}", responses=problem_responses(404))
async def read_label(app: TheApp, who: Reader, label_id: PathId) -> LabelResponse:
    return _to_response(await find_label(app.db, who.user.id, label_id))


@router.patch("/{label_id}", responses=problem_responses(404, 409))
async def change_label(app: TheApp, who: Writer, label_id: PathId, body: LabelRequest) -> LabelResponse:
    return _to_response(await rename_label(app.db, who.user.id, label_id, body.name))


@router.delete("/{label_id}", status_code=204, responses=problem_responses(404))
async def delete_label(app: TheApp, who: Writer, label_id: PathId) -> None:
    """Deletes a label; its entries stay."""
    await drop_label(app.db, who.user.id, label_id)


def _to_response(label: UserLabel) -> LabelResponse:
    return LabelResponse.model_validate(label, from_attributes=True)
