"""Tables of stories: entries that are the same article, in several feeds.

An entry that is the only one of its story has no row in `story_entries`. Keys and sketches are kept while an entry is
in its feed and for some weeks after: later no new entry can be the same article.
"""

from sqlalchemy import Column, Index, PrimaryKeyConstraint

from feedmill.model.stories.signature import MAX_SKETCH
from feedmill.store.columns import Id, ascii_text, belongs_to, timestamp
from feedmill.store.schema.metadata import table

story_entries = table(
    "story_entries",
    belongs_to("entries", name="entry_id", primary_key=True, autoincrement=False),
    # The id of the entry with which the story began; that entry may be gone.
    Column("story_id", Id, nullable=False),
    Index("story_entries_of_story", "story_id", "entry_id"),
)

story_sketches = table(
    "story_sketches",
    belongs_to("entries", name="entry_id", primary_key=True, autoincrement=False),
    Column("feed_id", Id, nullable=False),
    timestamp("at", required=True),
    Column("sketch", ascii_text(MAX_SKETCH), nullable=False),
)

# No reference to the entry and no index by it: each would take longer than storing the key. The sketch of an entry has
# its keys, too. Keys of entries that are gone find nothing, and a maintenance task deletes them.
story_keys = table(
    "story_keys",
    Column("story_key", Id, nullable=False),
    Column("entry_id", Id, nullable=False),
    PrimaryKeyConstraint("story_key", "entry_id"),
    sqlite_with_rowid=False,
)
