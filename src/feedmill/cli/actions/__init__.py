"""Actions that several commands share: find a feed or a user, subscribe a user, refresh feeds."""
