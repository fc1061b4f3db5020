"""Content handed on to other programs. In: new entries. Out: items, each handed out as its pool promises.

`gather` has entries join pools, `fill` keeps the Redis lists full, `pop` and `leases` hand out; `door` is what
everybody else calls.
"""
