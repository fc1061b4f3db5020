"""Stores raw bodies, images and feed descriptors as objects; retention; backups."""
