"""`/api/admin/audit`: what administrators did."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, Field

from feedmill.library.cursors import cursor_at
from feedmill.model.max_id import MAX_ID
from feedmill.serve.http.paginate import decode_cursor, split_page
from feedmill.serve.rest.core.base_models import FromAttributes
from feedmill.serve.rest.core.dependencies import Admin, TheApp
from feedmill.serve.rest.core.page_parameters import Cursor, Limit
from feedmill.store.admin.audit_log import audit_log_page

router = APIRouter(prefix="/admin", tags=["admin"])


class AuditLogEntryResponse(FromAttributes):
    id: int
    at: datetime
    user_id: int | None = Field(description="Who did it; null for the command line or a visitor.")
    user_name: str | None
    action: str
    subject: str | None
    address: str | None


class AuditLogPage(BaseModel):
    items: list[AuditLogEntryResponse]
    next: str | None


@router.get("/audit")
async def read_audit_log(app: TheApp, who: Admin, limit: Limit = 50, cursor: Cursor = None) -> AuditLogPage:
    """The audit trail of accounts and feeds, newest first."""
    found = await audit_log_page(app.db, decode_cursor(cursor, MAX_ID - 1), limit + 1)
    page, last = split_page(found, limit)
    return AuditLogPage(
        items=[AuditLogEntryResponse.model_validate(line) for line in page], next=cursor_at(last.id) if last else None
    )
