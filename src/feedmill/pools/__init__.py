"""Hands entries on to other programs, each item as its pool guarantees.

`gather` has entries join pools, `fill` keeps the Redis lists full, `pop` and `leases` hand out; `door` is what
everybody else calls.
"""
