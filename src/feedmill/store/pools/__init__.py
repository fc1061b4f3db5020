"""Pools: groups, grants, items and the entries that become items."""
