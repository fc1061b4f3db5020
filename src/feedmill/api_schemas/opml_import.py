"""Responses of OPML imports."""

from pydantic import Field

from feedmill.api_schemas.response_body import MessageText, ResponseBody


class ImportErrorResponse(ResponseBody):
    """An error in the file; `line` is null if it is unknown."""

    line: int | None
    message: MessageText


class ImportResponse(ResponseBody):
    """`job_id` is the job that fetches the new feeds and has this report; null if nothing was changed."""

    job_id: int | None
    new: int = Field(description="Feeds that were added.")
    known: int = Field(description="Existing feeds that you are now subscribed to.")
    subscribed: int = Field(description="Feeds that you were already subscribed to.")
    folders: list[str]
    errors: list[ImportErrorResponse]
