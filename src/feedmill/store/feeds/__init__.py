"""Feeds: rows, claims, the write of a refresh, the fetch log, icons, merges, moves."""
