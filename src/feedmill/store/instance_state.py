"""Key-value settings of the instance."""

from sqlalchemy import bindparam, select

from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_new
from feedmill.store.schema import instance_state

READ = select(instance_state.c.value).where(instance_state.c.name == bindparam("name"))
INSERT = insert_new(instance_state, "name", "value")
CHANGE = instance_state.update().where(instance_state.c.name == bindparam("setting")).values(value=bindparam("value"))


async def read_instance_value(db: Database, name: str) -> str | None:
    """The setting of that name; None if it is not set."""
    rows = await db.query(READ, {"name": name})
    return rows[0]["value"] if rows else None


async def init_instance_value(db: Database, name: str, value: str) -> str:
    """Sets the setting unless it is set; its value from now on."""
    await db.batch([Step(INSERT, {"name": name, "value": value})])
    return await read_instance_value(db, name) or value


async def set_instance_value(db: Database, name: str, value: str) -> None:
    await db.batch(steps_to_set_instance_value(name, value))


def steps_to_set_instance_value(name: str, value: str) -> list[Step]:
    """The steps that set a setting, whatever its value was."""
    return [Step(INSERT, {"name": name, "value": value}), Step(CHANGE, {"setting": name, "value": value})]
