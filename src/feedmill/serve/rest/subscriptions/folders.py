"""`/api/folders`: lists, creates, changes and deletes folders."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from feedmill.api_schemas.folders import FolderPage, FolderResponse
from feedmill.library.subscriptions import folders as own
from feedmill.model.subscription import Folder
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import Id, PathId, ShortText, StrictBool, StrictInt

router = APIRouter(prefix="/folders", tags=["folders"])

Position = Annotated[
    StrictInt, Field(ge=0, lt=2**31, description="Folders of one parent are sorted by this, then by name.")
]
ParentId = Annotated[Id, Field(description="The parent folder; null for the top level.")]


class NewFolder(RequestBody):
    name: ShortText
    parent_id: ParentId | None = None
    position: Position = 0


class FolderChanges(RequestBody):
    """Fields that are left out are not changed; a `parent_id` of null moves the folder to the top."""

    name: ShortText | None = None
    parent_id: ParentId | None = None
    position: Position | None = None
    same_story_once: StrictBool | None = Field(
        default=None,
        description="Whether articles of its feeds that other feeds have too are shown once; its subfolders follow.",
    )


@router.get("")
async def list_folders(app: TheApp, who: Reader) -> FolderPage:
    """All folders; those of one parent in their order."""
    return FolderPage(items=[_response(folder) for folder in await own.folders_of_user(app.db, who.user.id)])


@router.post("", status_code=201, responses=problem_responses(404, 409))
async def create_folder(app: TheApp, who: Writer, new: NewFolder) -> FolderResponse:
    """Creates a folder, nested at most eight levels deep."""
    made = await own.make_folder(app.db, who.user.id, new.name, new.parent_id or 0, new.position)
    return _response(made)


@router.patch("/{folder_id}", responses=problem_responses(404, 409))
async def change_folder(app: TheApp, who: Writer, folder_id: PathId, changes: FolderChanges) -> FolderResponse:
    """Renames, moves, reorders or switches a folder; never into itself."""
    parent_id = (changes.parent_id or 0) if "parent_id" in changes.model_fields_set else None
    altered = await own.alter_folder(
        app.db, who.user.id, folder_id, changes.name, parent_id, changes.position, changes.same_story_once
    )
    return _response(altered)


@router.delete("/{folder_id}", status_code=204, responses=problem_responses(404))
async def delete_folder(app: TheApp, who: Writer, folder_id: PathId) -> None:
    """Deletes a folder with its subfolders; their feeds stay."""
    await own.delete_folder(app.db, who.user.id, folder_id)


def _response(folder: Folder) -> FolderResponse:
    return FolderResponse(
        id=folder.id,
        name=folder.name,
        parent_id=folder.parent_id or None,
        position=folder.position,
        same_story_once=folder.same_story_once,
    )
