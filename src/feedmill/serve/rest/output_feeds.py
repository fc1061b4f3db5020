"""`/api/output-feeds`: lists, creates and revokes output feeds."""

from datetime import UTC, datetime
from typing import Annotated, Self

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, StringConstraints

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.output_feeds.addresses import OutputAddress, OutputFormat, announcing_hub
from feedmill.library.output_feeds.manage_output_feeds import (
    create_output_feed,
    list_output_feeds,
    revoke_output_feed,
)
from feedmill.model.syndication.output_feed import OutputFeed, parse_output_list
from feedmill.serve.http.app_images import site_of
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId, ShortText, StrictBool

router = APIRouter(prefix="/output-feeds", tags=["output feeds"])

ListName = Annotated[
    str,
    StringConstraints(
        pattern=r"^(all|starred|later|(feed|folder|label|search|filter|pool)/[1-9][0-9]{0,14})$", max_length=30
    ),
]


class NewOutputFeed(RequestBody):
    list: ListName = Field(
        description="`all`, `starred`, `later`, or `feed`, `folder`, `label`, `search`, `filter` or `pool` and an id, "
        "such as `folder/3`."
    )
    name: ShortText | None = Field(None, description="The title of the feed; null for the name of the list.")
    announce: StrictBool = Field(False, description="Tell the hub of the setting `websub_hub` of new entries.")


class OutputFeedResponse(BaseModel):
    id: int
    name: str
    list: str
    announces: bool = Field(description="Whether a WebSub hub is told of new entries.")
    created_at: datetime
    last_used_at: datetime | None = Field(description="When it was last read, to the minute.")
    last_address: str | None = Field(description="The IP address that read it last.")
    last_user_agent: str | None

    @classmethod
    def of(cls, feed: OutputFeed) -> Self:
        values = {name: getattr(feed, name) for name in OutputFeedResponse.model_fields}
        return cls.model_validate(values | {"list": feed.list.name})


class CreatedOutputFeed(BaseModel):
    atom_url: str = Field(description="The address of the feed as Atom. It is shown only this once.")
    json_url: str = Field(description="The address of the feed as JSON Feed. It is shown only this once.")
    feed: OutputFeedResponse


class OutputFeedPage(BaseModel):
    items: list[OutputFeedResponse]
    next: None = Field(default=None, description="Always null: there is one page.")


@router.get("")
async def read_output_feeds(app: TheApp, who: Reader) -> OutputFeedPage:
    """Your output feeds, the newest first; never their addresses."""
    found = await list_output_feeds(app.db, who, datetime.now(UTC))
    return OutputFeedPage(items=[OutputFeedResponse.of(feed) for feed in found])


@router.post("", status_code=201, responses=problem_responses(404))
async def add_output_feed(request: Request, app: TheApp, who: Writer, new: NewOutputFeed) -> CreatedOutputFeed:
    """Lets other programs read a list as a feed, and shows its addresses only once.

    Whoever knows an address can read the list until the feed is revoked. A feed that is created with an API key ends
    with that key. For a pool group the key needs the scope `pools`, and the user the right to take from the group.
    """
    wanted = parse_output_list(new.list)
    if wanted is None:
        raise BadInput(Message("error.bad_output_list"), field="list")
    if new.announce and not announcing_hub(app.settings):
        raise BadInput(Message("error.no_hub"), field="announce")
    encryption = app.tools.encryption if new.announce else None
    secret, feed = await create_output_feed(app.db, who, wanted, new.name, datetime.now(UTC), encryption)
    atom_url, json_url = (OutputAddress(site_of(request), secret, format).url for format in OutputFormat)
    return CreatedOutputFeed(atom_url=atom_url, json_url=json_url, feed=OutputFeedResponse.of(feed))


@router.delete("/{output_feed_id}", status_code=204, responses=problem_responses(404))
async def delete_output_feed(app: TheApp, who: Writer, output_feed_id: PathId) -> None:
    """Revokes an output feed: its addresses stop working at once."""
    await revoke_output_feed(app.db, who, output_feed_id, datetime.now(UTC))
