"""Users: accounts, the first admin, sessions, API keys, sign-in attempts."""
