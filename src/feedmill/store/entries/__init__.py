"""Entries: new rows and revisions, lists, read and star state, labels, mark all read, full texts."""
