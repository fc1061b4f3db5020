"""The date of an entry as SQL.

It differs from `sort_at` for undated entries of a first fetch, which lists put below all dates.
"""

from sqlalchemy import case

from feedmill.store.schema import entries

entry_date = case((entries.c.undated == 1, entries.c.first_seen_at), else_=entries.c.sort_at)
"""Its date, or when it was first seen if it has none or one in the future."""
