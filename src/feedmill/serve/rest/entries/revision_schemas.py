"""Schemas of revisions of entries and their differences."""

from datetime import datetime

from pydantic import BaseModel

from feedmill.library.entries.text_diff import DiffKind


class RevisionResponse(BaseModel):
    number: int
    seen_at: datetime
    title: str


class RevisionPage(BaseModel):
    items: list[RevisionResponse]
    next: None = None


class DiffPieceResponse(BaseModel):
    kind: DiffKind
    text: str


class DiffResponse(BaseModel):
    """Without the `added` pieces it is the old version, without the `removed` ones the new one; plain text."""

    title: list[DiffPieceResponse]
    text: list[DiffPieceResponse]
