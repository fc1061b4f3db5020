"""Column types and column builders that every database stores and compares the same way."""

from typing import Any

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, String, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import TypeCompiler
from sqlalchemy.types import TypeEngine

# SQLite assigns ids only in a column of exactly this type.
Id = BigInteger().with_variant(Integer(), "sqlite")


# Not the types of SQLAlchemy's MySQL dialect: importing it would slow the start of all other databases.
class MysqlLongText(Text):
    """LONGTEXT on MySQL, whose TEXT is limited to 64 kB."""


class MysqlAscii(String):
    """An ASCII text on MySQL that is compared byte by byte."""


@compiles(MysqlLongText, "mysql")
def _longtext(kind: MysqlLongText, compiler: TypeCompiler, **options: Any) -> str:
    return "LONGTEXT"


@compiles(MysqlAscii, "mysql")
def _ascii_varchar(kind: MysqlAscii, compiler: TypeCompiler, **options: Any) -> str:
    return f"VARCHAR({kind.length}) CHARACTER SET ascii COLLATE ascii_bin"


LongText = Text().with_variant(MysqlLongText(), "mysql")


def ascii_text(length: int) -> TypeEngine[str]:
    """Short text of ours or of a URL, compared byte by byte."""
    return (
        String(length)
        .with_variant(String(length, collation="C"), "postgresql")
        .with_variant(MysqlAscii(length), "mysql")
    )


def exact_text(length: int) -> TypeEngine[str]:
    """Text of any script, compared byte by byte."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


Url = ascii_text(2048)
Word = ascii_text(32)
Token = ascii_text(64)


def key() -> Column[int]:
    return Column("id", Id, primary_key=True, autoincrement=True)


def belongs_to(table: str, *, name: str | None = None, **options: Any) -> Column[int]:
    """A reference to the row that owns this one; deleting the owner deletes this row."""
    owner = ForeignKey(f"{table}.id", ondelete="CASCADE")
    return Column(name or f"{table.removesuffix('s')}_id", Id, owner, nullable=False, **options)


def refers_to(table: str, *, name: str) -> Column[int]:
    """A reference to another row; deleting that row sets it to NULL."""
    return Column(name, Id, ForeignKey(f"{table}.id", ondelete="SET NULL"))


def timestamp(name: str, *, required: bool = False, **options: Any) -> Column[str]:
    """A time in the text form of `feedmill.model.timestamps`."""
    return Column(name, ascii_text(24), nullable=not required, **options)


def count(name: str, default: int = 0) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default=str(default))


def size(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, server_default="0")


def flag(name: str, *, default: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default="1" if default else "0")
