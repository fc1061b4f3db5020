"""`/api/entries` and `/api/labels`: lists, articles, read state, stars, labels, revisions."""
