"""Sign-in, registration, settings, sessions, API keys, appearance and keyboard shortcuts."""
