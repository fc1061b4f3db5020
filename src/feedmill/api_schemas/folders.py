"""Responses of folders."""

from pydantic import Field

from feedmill.api_schemas.response_body import ResponseBody


class FolderResponse(ResponseBody):
    id: int
    name: str
    parent_id: int | None
    position: int
    same_story_once: bool = Field(description="Whether articles that other feeds have too are shown once.")


class FolderPage(ResponseBody):
    items: list[FolderResponse]
    next: None = Field(default=None, description="Always null: all folders are on one page.")
