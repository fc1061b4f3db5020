"""Backups of the whole installation: create, check and load them."""
