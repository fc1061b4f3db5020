"""Signs users in with OpenID Connect: the code flow with PKCE, and the accounts that identities belong to."""
