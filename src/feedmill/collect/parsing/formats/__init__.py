"""Readers for RSS, Atom and JSON Feed: a decoded document becomes a `ParsedFeed`."""
