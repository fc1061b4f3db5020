"""`/api/feeds` and `/api/queue`: subscribed feeds, discovery, refresh, settings."""
