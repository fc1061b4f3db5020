"""Feeds that the operator declares in a file (feeds.yaml, feeds.json, feeds.toml)."""
