"""Tells which entries of different feeds are the same article. Pure."""
