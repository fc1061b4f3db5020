"""The archive: raw bodies, images, retention, storage usage, restore, backup."""
