"""Tables of users, sessions, identities, API keys, app passwords, second factors and sign-in attempts."""

from sqlalchemy import Column, Index

from feedmill.store.columns import (
    Id,
    LongText,
    Token,
    Word,
    ascii_text,
    belongs_to,
    count,
    exact_text,
    flag,
    key,
    timestamp,
)
from feedmill.store.schema.metadata import table

users = table(
    "users",
    key(),
    Column("name", exact_text(190), nullable=False, unique=True),
    Column("password_hash", LongText),
    flag("is_admin"),
    Column("status", Word, nullable=False, server_default="active"),
    # The user's unread list; mark-all-read replaces it by a new, empty one.
    Column("unread_list_id", Id, nullable=False, server_default="0"),
    Column("settings", LongText),
    # Changes with every change of the user's filters, so that a refresh need not read them again; empty without any.
    Column("filters_version", Token),
    Column("quota_feeds", Id),
    Column("quota_bytes", Id),
    timestamp("created_at", required=True),
    timestamp("last_seen_at"),
    # Since when signing in needs a second factor; NULL if it does not.
    timestamp("two_factor_at"),
)

# The user's own style sheet for the pages. Not a column of `users`, whose rows are read with every request.
own_css = table(
    "own_css", belongs_to("users", primary_key=True, autoincrement=False), Column("css", LongText, nullable=False)
)

sessions = table(
    "sessions",
    key(),
    belongs_to("users"),
    # A browser session, or one of an API client (jwt), whose token is replaced at each renewal.
    Column("kind", Word, nullable=False, server_default="browser"),
    Column("token_hash", Token, nullable=False, unique=True),
    Column("user_agent", LongText),
    Column("address", ascii_text(64)),
    # The identity provider that signed the user in, and its token, with which the session there is ended.
    Column("provider", Word),
    Column("id_token", LongText),
    timestamp("created_at", required=True),
    timestamp("last_seen_at", required=True),
    timestamp("expires_at", required=True),
    Index("sessions_of_user", "user_id"),
    Index("sessions_expiry", "expires_at"),
)

# Identities at OpenID Connect providers with which users sign in. The digest is of the issuer and the subject.
identities = table(
    "identities",
    key(),
    belongs_to("users"),
    Column("identity_hash", Token, nullable=False, unique=True),
    Column("issuer", LongText, nullable=False),
    Column("subject", LongText, nullable=False),
    # How the provider calls the user.
    Column("label", LongText),
    timestamp("created_at", required=True),
    timestamp("last_used_at"),
    Index("identities_of_user", "user_id"),
)

# Sign-ins at providers that have ended, so that none is used twice.
used_sign_ins = table(
    "used_sign_ins",
    Column("state_hash", Token, primary_key=True),
    timestamp("expires_at", required=True),
    Index("used_sign_ins_expiry", "expires_at"),
)

# Links that sign a user in once, without a password.
sign_in_links = table(
    "sign_in_links",
    Column("token_hash", Token, primary_key=True),
    belongs_to("users"),
    timestamp("created_at", required=True),
    timestamp("expires_at", required=True),
    Index("sign_in_links_of_user", "user_id"),
    Index("sign_in_links_expiry", "expires_at"),
)

api_keys = table(
    "api_keys",
    key(),
    belongs_to("users"),
    Column("name", exact_text(190), nullable=False),
    Column("key_hash", Token, nullable=False, unique=True),
    Column("scopes", LongText, nullable=False),
    timestamp("created_at", required=True),
    timestamp("last_used_at"),
    timestamp("expires_at"),
    timestamp("revoked_at"),
    # The key that it was created with; it is valid only while that one is.
    Column("parent_key_id", Id),
    # Whether `api_key_pool_groups` limits the groups that it may take from.
    flag("limited_to_groups"),
    Index("api_keys_of_user", "user_id"),
)

app_passwords = table(
    "app_passwords",
    key(),
    belongs_to("users"),
    # The device or app that uses it.
    Column("name", exact_text(190), nullable=False),
    Column("password_hash", Token, nullable=False, unique=True),
    # Of the key that Fever apps send; empty if the password is not for Fever.
    Column("fever_hash", Token, unique=True),
    timestamp("created_at", required=True),
    timestamp("last_used_at"),
    Column("last_address", ascii_text(64)),
    Column("last_user_agent", LongText),
    timestamp("revoked_at"),
    Index("app_passwords_of_user", "user_id"),
)

# The secret that a user's authenticator app shares with us.
totp_secrets = table(
    "totp_secrets",
    belongs_to("users", primary_key=True, autoincrement=False),
    Column("secret", LongText, nullable=False),
    # The time step of the last code that was accepted: each code counts once.
    Column("last_step", Id, nullable=False),
)

# Unused codes that replace one of the authenticator app.
recovery_codes = table(
    "recovery_codes",
    Column("code_hash", Token, primary_key=True),
    belongs_to("users"),
    Index("recovery_codes_of_user", "user_id"),
)

# Recent sign-in attempts, by a digest of the name or address.
sign_in_attempts = table(
    "sign_in_attempts",
    Column("source_hash", Token, primary_key=True),
    count("attempts"),
    timestamp("last_at", required=True),
    Index("sign_in_attempts_age", "last_at"),
)
