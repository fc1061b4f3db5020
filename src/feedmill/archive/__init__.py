"""What is kept as bytes: raw bodies, images, backups; and how long it is kept."""
