"""Entries: lists, the article page, marks, labels, revisions, full text."""
