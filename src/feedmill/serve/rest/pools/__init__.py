"""`/api/pools`: pool groups, grants and items."""
