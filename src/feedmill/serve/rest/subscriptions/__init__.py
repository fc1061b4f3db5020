"""`/api/folders`, `/api/feeds/import` and `/api/feeds/export`: folders and OPML."""
