"""Users: accounts, the first admin, sessions, API tokens, sign-in attempts."""
