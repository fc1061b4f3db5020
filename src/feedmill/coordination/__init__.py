"""Turns at a host, locks, queues. All of it is a hint that may be lost; the database decides."""
