"""What an administrator sees and does: hosts, blocked hosts, settings."""
