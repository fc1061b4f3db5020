"""The query parameters `limit` and `cursor` of paginated lists."""

from typing import Annotated

from fastapi import Query

Limit = Annotated[int, Query(ge=1, le=200, description="The maximum number.")]
Cursor = Annotated[str | None, Query(max_length=500, description="The `next` of the previous page.")]
