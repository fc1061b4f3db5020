"""Sign-in, registration, settings, sessions, API tokens, appearance and keyboard shortcuts."""
