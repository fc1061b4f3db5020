"""Reads and replaces the CSS of users."""

from sqlalchemy import bindparam, select

from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import own_css

READ = select(own_css.c.css).where(own_css.c.user_id == bindparam("of_user"))
DELETE = own_css.delete().where(own_css.c.user_id == bindparam("of_user"))
INSERT = insert(own_css, "user_id", "css")


async def read_own_css(db: Database, user_id: int) -> str:
    rows = await db.query(READ, {"of_user": user_id})
    return str(rows[0]["css"]) if rows else ""


def steps_to_save_own_css(user_id: int, css: str) -> list[Step]:
    """The steps that replace the CSS of the user, or delete it if it is empty."""
    deletion = Step(DELETE, {"of_user": user_id})
    return [deletion, Step(INSERT, {"user_id": user_id, "css": css})] if css else [deletion]
