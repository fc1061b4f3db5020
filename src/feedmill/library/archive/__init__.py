"""The archive as users see it: raw bodies, images, storage usage, backups."""
