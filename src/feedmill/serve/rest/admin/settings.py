"""`/api/admin/settings`: the effective settings and where each comes from."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from feedmill.library.admin.effective_settings import effective_settings
from feedmill.serve.rest.core.base_models import FromAttributes
from feedmill.serve.rest.core.dependencies import Admin, TheApp
from feedmill.settings import SettingOrigin

router = APIRouter(prefix="/admin", tags=["admin"])


class SettingResponse(FromAttributes):
    name: str
    value: str | int | float | bool | None = Field(description="`***` for a secret that is set.")
    origin: SettingOrigin
    description: str


class SettingsResponse(BaseModel):
    items: list[SettingResponse]


@router.get("/settings")
async def read_settings(app: TheApp, who: Admin) -> SettingsResponse:
    """The effective settings and where each comes from, secrets hidden."""
    return SettingsResponse(items=[SettingResponse.model_validate(one) for one in effective_settings(app.settings)])
