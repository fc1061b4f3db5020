"""What an administrator sees and does: users, feeds, hosts, audit log, metrics, maintenance, instance settings."""
