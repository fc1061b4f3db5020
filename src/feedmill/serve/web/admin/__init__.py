"""`/admin`: users, feeds, hosts, queue, storage usage, audit log, log and settings."""
