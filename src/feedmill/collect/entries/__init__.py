"""Compares the entries of a document with the stored ones. Pure."""
