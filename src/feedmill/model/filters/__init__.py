"""Filters of users, and what they did."""
