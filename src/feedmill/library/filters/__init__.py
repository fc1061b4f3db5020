"""Filters: what a subscriber chooses to hide, label or fetch in full of new entries."""
