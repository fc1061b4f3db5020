"""What video sites say of the videos in articles."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, select

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert_new, one_of
from feedmill.store.schema import video_details

_of = video_details.c
READ = select(_of.video, _of.title, _of.picture_url, _of.fetched_at).where(one_of(_of.video, "videos"))
ADD = insert_new(video_details, "video", "title", "picture_url", "fetched_at")
CHANGE = (
    video_details.update()
    .where(_of.video == bindparam("named"))
    .values(title=bindparam("title"), picture_url=bindparam("picture_url"), fetched_at=bindparam("fetched_at"))
)


class VideoDetails(NamedTuple):
    """The title and the picture of a video; None: the site does not say."""

    title: str | None
    picture_url: str | None
    fetched_at: str


async def read_video_details(db: Database, videos: Sequence[str]) -> dict[str, VideoDetails]:
    """By video, what is known of it."""
    rows = await db.query(READ, {"videos": as_list(list(videos))}) if videos else []
    return {row["video"]: VideoDetails(row["title"], row["picture_url"], row["fetched_at"]) for row in rows}


async def save_video_details(
    db: Database, video: str, title: str | None, picture_url: str | None, now: datetime
) -> VideoDetails:
    """Stores what a site says of a video, in place of what it said before."""
    details = VideoDetails(title, picture_url, to_iso(now))
    values = details._asdict()
    await db.batch([Step(ADD, {"video": video} | values), Step(CHANGE, {"named": video} | values)])
    return details
