"""Entries for programs that keep a copy: ids, texts, and what is new or changed since a time."""
