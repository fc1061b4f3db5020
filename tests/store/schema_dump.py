"""The schema of a database as sorted lines to compare: columns, indexes and references.

The search index is left out, because it differs between databases (`tests/store/search/test_find_entries.py`), and the
partitions of PostgreSQL, which come and go.
"""

from sqlalchemy import TextClause, text

from feedmill.store.database import Database

SQLITE = (
    """
    SELECT t.name, c.name AS col, c.type, c."notnull", c.dflt_value, c.pk, t.sql LIKE '%AUTOINCREMENT%' AS numbered,
        t.sql LIKE '%WITHOUT ROWID%' AS without_rowid
    FROM sqlite_master t JOIN pragma_table_info(t.name) c
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE '\\_%' ESCAPE '\\'
        AND t.name NOT LIKE 'search%'
    """,
    """
    SELECT t.name, i.name AS idx, i."unique" AS uniq, x.seqno, x.name AS col
    FROM sqlite_master t JOIN pragma_index_list(t.name) i JOIN pragma_index_info(i.name) x
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE '\\_%' ESCAPE '\\'
        AND t.name NOT LIKE 'search%'
    """,
    """
    SELECT t.name, f."from" AS col, f."table" AS owner, f."to" AS owner_col, f.on_delete
    FROM sqlite_master t JOIN pragma_foreign_key_list(t.name) f
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE '\\_%' ESCAPE '\\'
        AND t.name NOT LIKE 'search%'
    """,
)
POSTGRESQL = (
    """
    SELECT table_name, column_name, data_type, character_maximum_length, is_nullable, column_default, collation_name
    FROM information_schema.columns JOIN pg_class c ON c.oid = CAST(quote_ident(table_name) AS regclass)
    WHERE table_schema = 'public' AND table_name <> 'search_texts' AND NOT c.relispartition
    """,
    """
    SELECT tablename, indexname, indexdef FROM pg_indexes JOIN pg_class c ON c.oid = CAST(indexname AS regclass)
    WHERE schemaname = 'public' AND tablename <> 'search_texts' AND NOT c.relispartition
    """,
    """
    SELECT CAST(conrelid AS regclass) || '' AS owned, conname || '' AS name, pg_get_constraintdef(oid) AS definition
    FROM pg_constraint WHERE connamespace = CAST('public' AS regnamespace)
        AND CAST(conrelid AS regclass) || '' <> 'search_texts'
        AND conrelid NOT IN (SELECT oid FROM pg_class WHERE relispartition)
    """,
)
MYSQL = (
    """
    SELECT table_name, column_name, column_type, is_nullable, column_default, collation_name, extra
    FROM information_schema.columns WHERE table_schema = database() AND table_name <> 'search_texts'
    """,
    """
    SELECT table_name, index_name, non_unique, seq_in_index, column_name
    FROM information_schema.statistics WHERE table_schema = database() AND table_name <> 'search_texts'
    """,
    """
    SELECT table_name, constraint_name, referenced_table_name, delete_rule
    FROM information_schema.referential_constraints WHERE constraint_schema = database()
        AND table_name <> 'search_texts'
    """,
)
QUESTIONS: dict[str, list[TextClause]] = {
    "sqlite": [text(question) for question in SQLITE],
    "postgresql": [text(question) for question in POSTGRESQL],
    "mysql": [text(question) for question in MYSQL],
}


async def catalog(db: Database) -> list[str]:
    """Everything that the database reports about its tables."""
    answers = [await db.query(question) for question in QUESTIONS[db.dialect_name]]
    return sorted(" ".join(str(value) for value in row.values()) for rows in answers for row in rows)
