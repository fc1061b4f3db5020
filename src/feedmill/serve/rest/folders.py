"""`/api/folders`: where a person files their feeds."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from feedmill.library import folders as own
from feedmill.model.subscription import Folder
from feedmill.serve.rest.fields import Id, Line, PathId, Whole
from feedmill.serve.rest.parts import Reader, TheApp, Writer
from feedmill.serve.rest.problems import described
from feedmill.store.folders import folders_of

router = APIRouter(prefix="/folders", tags=["folders"])

Position = Annotated[Whole, Field(ge=0, lt=2**31, description="Folders of one parent are shown by this, then by name.")]
ParentId = Annotated[Id, Field(description="The folder that it is in; null is the top.")]


class FolderShown(BaseModel):
    id: int
    name: str
    parent_id: int | None
    position: int

    @classmethod
    def of(cls, folder: Folder) -> "FolderShown":
        return cls(id=folder.id, name=folder.name, parent_id=folder.parent_id or None, position=folder.position)


class FolderPage(BaseModel):
    items: list[FolderShown]
    next: None = Field(default=None, description="Always null: all folders come at once.")


class NewFolder(BaseModel):
    name: Line
    parent_id: ParentId | None = None
    position: Position = 0


class FolderChanges(BaseModel):
    """What is left out stays as it is; a `parent_id` of null moves it to the top."""

    name: Line | None = None
    parent_id: ParentId | None = None
    position: Position | None = None


@router.get("")
async def list_folders(app: TheApp, who: Reader) -> FolderPage:
    """All folders; those of one parent in the order in which they are shown."""
    return FolderPage(items=[FolderShown.of(folder) for folder in await folders_of(app.db, who.user.id)])


@router.post("", status_code=201, responses=described(404, 409))
async def create_folder(app: TheApp, who: Writer, new: NewFolder) -> FolderShown:
    """Makes a folder, at most eight deep."""
    made = await own.make_folder(app.db, who.user.id, new.name, new.parent_id or 0, new.position)
    return FolderShown.of(made)


@router.patch("/{folder_id}", responses=described(404, 409))
async def change_folder(app: TheApp, who: Writer, folder_id: PathId, changes: FolderChanges) -> FolderShown:
    """Renames, moves or reorders a folder; never into itself."""
    parent_id = (changes.parent_id or 0) if "parent_id" in changes.model_fields_set else None
    altered = await own.alter_folder(app.db, who.user.id, folder_id, changes.name, parent_id, changes.position)
    return FolderShown.of(altered)


@router.delete("/{folder_id}", status_code=204, responses=described(404))
async def delete_folder(app: TheApp, who: Writer, folder_id: PathId) -> None:
    """Deletes a folder with the folders in it; the feeds in them stay."""
    await own.delete_folder(app.db, who.user.id, folder_id)
