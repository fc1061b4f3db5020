"""What several commands do: find a feed or a user, subscribe a user, refresh feeds."""
