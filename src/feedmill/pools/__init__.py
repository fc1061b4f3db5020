"""Hands entries on to other programs, each item as its pool guarantees.

`gather` adds entries to pools, `fill` keeps the Redis lists full, `pop` and `lease_items` hand items out; `service` is
what the rest of Feedmill calls.
"""
