"""Feeds: health, icons, URLs, merging, and which feeds are shared or private."""
