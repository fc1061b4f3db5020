CREATE TABLE IF NOT EXISTS audit (
  id BIGINT NOT NULL AUTO_INCREMENT,
  at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  user_id BIGINT,
  action VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  subject LONGTEXT,
  address VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (id),
  INDEX audit_at (at)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS batches (
  id BIGINT NOT NULL AUTO_INCREMENT,
  token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  user_id BIGINT,
  running_key VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin,
  status VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'running',
  total INTEGER NOT NULL DEFAULT '0',
  report LONGTEXT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  heartbeat_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  finished_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  cancelled_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (id),
  UNIQUE (token),
  UNIQUE (running_key),
  INDEX batches_of_user (user_id, created_at),
  INDEX batches_running (status, heartbeat_at)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS blocked_hosts (
  host VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  user_id BIGINT,
  PRIMARY KEY (host)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS instance_state (
  name VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  value LONGTEXT NOT NULL,
  PRIMARY KEY (name)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS feeds (
  id BIGINT NOT NULL AUTO_INCREMENT,
  url VARCHAR(2048) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  host VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  title LONGTEXT,
  own_title LONGTEXT,
  folder LONGTEXT,
  site_url LONGTEXT,
  description LONGTEXT,
  language VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  icon_url LONGTEXT,
  image_url LONGTEXT,
  hub_url LONGTEXT,
  topic_url LONGTEXT,
  pushed_until VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  status VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'active',
  archive_policy VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'all',
  http_options LONGTEXT,
  has_entry_settings INTEGER NOT NULL DEFAULT '0',
  added_by_person INTEGER NOT NULL DEFAULT '0',
  declared INTEGER NOT NULL DEFAULT '0',
  etag LONGTEXT,
  last_modified LONGTEXT,
  body_sha256 VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  descriptor_sha256 VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  next_fetch_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  next_fetch_why LONGTEXT,
  interval_seconds BIGINT,
  usual_gap_seconds BIGINT,
  polling_hints LONGTEXT,
  last_fetched_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  last_success_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  last_entry_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  consecutive_failures INTEGER NOT NULL DEFAULT '0',
  truncated_count INTEGER NOT NULL DEFAULT '0',
  last_error LONGTEXT,
  last_error_kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
  gone_since VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  moved_to VARCHAR(2048) CHARACTER SET ascii COLLATE ascii_bin,
  moved_count INTEGER NOT NULL DEFAULT '0',
  merged_into BIGINT,
  certificate_until VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  entry_count INTEGER NOT NULL DEFAULT '0',
  claim_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  claimed_until VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  claim_check INTEGER NOT NULL DEFAULT '0',
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id),
  UNIQUE (url),
  INDEX feeds_claimed (claim_token),
  INDEX feeds_due (next_fetch_at),
  INDEX feeds_host (host)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS object_garbage (
  id BIGINT NOT NULL AUTO_INCREMENT,
  `key` VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  recorded_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id),
  UNIQUE (`key`)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS video_details (
  video VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  title LONGTEXT,
  picture_url LONGTEXT,
  fetched_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (video)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS sign_in_attempts (
  source_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  attempts INTEGER NOT NULL DEFAULT '0',
  last_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (source_hash),
  INDEX sign_in_attempts_age (last_at)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS unread (
  list_id BIGINT NOT NULL,
  sort_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  entry_id BIGINT NOT NULL,
  subscription_id BIGINT NOT NULL,
  PRIMARY KEY (list_id, sort_at, entry_id),
  INDEX unread_of_subscription (list_id, subscription_id, sort_at, entry_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS users (
  id BIGINT NOT NULL AUTO_INCREMENT,
  name VARCHAR(190) NOT NULL,
  password_hash LONGTEXT,
  is_admin INTEGER NOT NULL DEFAULT '0',
  status VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'active',
  unread_list_id BIGINT NOT NULL DEFAULT '0',
  settings LONGTEXT,
  filters_version VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  quota_feeds BIGINT,
  quota_bytes BIGINT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  last_seen_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  two_factor_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (id),
  UNIQUE (name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS batch_jobs (
  batch_id BIGINT NOT NULL,
  feed_id BIGINT NOT NULL,
  outcome VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
  new_entries INTEGER NOT NULL DEFAULT '0',
  ms INTEGER NOT NULL DEFAULT '0',
  message LONGTEXT,
  finished_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (batch_id, feed_id),
  FOREIGN KEY(batch_id) REFERENCES batches (id) ON DELETE CASCADE,
  INDEX batch_jobs_done (batch_id, finished_at)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS bookmarks (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  url VARCHAR(2048) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  title LONGTEXT,
  description LONGTEXT,
  image_url LONGTEXT,
  note LONGTEXT,
  status VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'pending',
  attempts INTEGER NOT NULL DEFAULT '0',
  next_attempt_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  claim_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  last_error LONGTEXT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  fetched_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (id),
  CONSTRAINT bookmarks_once UNIQUE (user_id, url),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  INDEX bookmarks_claimed (claim_token),
  INDEX bookmarks_listed (user_id, created_at, id),
  INDEX bookmarks_waiting (status, next_attempt_at)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS entries (
  id BIGINT NOT NULL AUTO_INCREMENT,
  feed_id BIGINT NOT NULL,
  guid VARCHAR(512) NOT NULL,
  sort_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  refresh_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  digest VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  in_feed INTEGER NOT NULL DEFAULT '0',
  first_seen_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  last_seen_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  published_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  undated INTEGER NOT NULL DEFAULT '0',
  updated_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  revision_count INTEGER NOT NULL DEFAULT '0',
  language VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  link LONGTEXT,
  title LONGTEXT,
  author LONGTEXT,
  image_url LONGTEXT,
  comments_url LONGTEXT,
  base_url LONGTEXT,
  categories LONGTEXT,
  enclosures LONGTEXT,
  summary LONGTEXT,
  content_html LONGTEXT,
  PRIMARY KEY (id),
  CONSTRAINT entries_identity UNIQUE (feed_id, guid),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
  INDEX entries_in_feed (feed_id, in_feed, last_seen_at),
  INDEX entries_of_feed (feed_id, sort_at, id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS feed_urls (
  id BIGINT NOT NULL AUTO_INCREMENT,
  feed_id BIGINT NOT NULL,
  url VARCHAR(2048) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  until VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
  INDEX feed_urls_feed (feed_id),
  INDEX feed_urls_url (url)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS fetch_log (
  id BIGINT NOT NULL AUTO_INCREMENT,
  feed_id BIGINT NOT NULL,
  at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  outcome VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  http_status SMALLINT,
  bytes BIGINT NOT NULL DEFAULT '0',
  ms INTEGER NOT NULL DEFAULT '0',
  new_entries INTEGER NOT NULL DEFAULT '0',
  revised_entries INTEGER NOT NULL DEFAULT '0',
  message LONGTEXT,
  PRIMARY KEY (id),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
  INDEX fetch_log_at (at),
  INDEX fetch_log_of_feed (feed_id, at)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS folders (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  parent_id BIGINT NOT NULL DEFAULT '0',
  name VARCHAR(190) NOT NULL,
  position INTEGER NOT NULL DEFAULT '0',
  same_story_once INTEGER NOT NULL DEFAULT '1',
  PRIMARY KEY (id),
  CONSTRAINT folders_once UNIQUE (user_id, parent_id, name),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS icons (
  feed_id BIGINT NOT NULL,
  url LONGTEXT,
  sha256 VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  media_type VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin,
  attempts INTEGER NOT NULL DEFAULT '0',
  next_attempt_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  claim_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  fetched_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  data LONGTEXT,
  PRIMARY KEY (feed_id),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
  INDEX icons_by_digest (sha256, feed_id),
  INDEX icons_claimed (claim_token),
  INDEX icons_waiting (next_attempt_at, feed_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS labels (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  name VARCHAR(190) NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT labels_once UNIQUE (user_id, name),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS pool_groups (
  id BIGINT NOT NULL AUTO_INCREMENT,
  name VARCHAR(190) NOT NULL,
  rule LONGTEXT NOT NULL,
  settings LONGTEXT,
  paused INTEGER NOT NULL DEFAULT '0',
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  labels_user_id BIGINT,
  PRIMARY KEY (id),
  UNIQUE (name),
  FOREIGN KEY(labels_user_id) REFERENCES users (id) ON DELETE SET NULL
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS raw_bodies (
  id BIGINT NOT NULL AUTO_INCREMENT,
  feed_id BIGINT NOT NULL,
  `key` VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  fetched_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  http_status SMALLINT,
  headers LONGTEXT,
  sha256 VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  size BIGINT NOT NULL DEFAULT '0',
  parse_result LONGTEXT,
  entry_count INTEGER NOT NULL DEFAULT '0',
  new_entries INTEGER NOT NULL DEFAULT '0',
  PRIMARY KEY (id),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
  UNIQUE (`key`),
  INDEX raw_bodies_age (fetched_at),
  INDEX raw_bodies_of_feed (feed_id, fetched_at, size)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS own_css (
  user_id BIGINT NOT NULL,
  css LONGTEXT NOT NULL,
  PRIMARY KEY (user_id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS saved_searches (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  name VARCHAR(190) NOT NULL,
  query LONGTEXT NOT NULL,
  position INTEGER NOT NULL DEFAULT '0',
  PRIMARY KEY (id),
  CONSTRAINT saved_searches_once UNIQUE (user_id, name),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS totp_secrets (
  user_id BIGINT NOT NULL,
  secret LONGTEXT NOT NULL,
  last_step BIGINT NOT NULL,
  PRIMARY KEY (user_id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS recovery_codes (
  code_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  user_id BIGINT NOT NULL,
  PRIMARY KEY (code_hash),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  INDEX recovery_codes_of_user (user_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS identities (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  identity_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  issuer LONGTEXT NOT NULL,
  subject LONGTEXT NOT NULL,
  label LONGTEXT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  last_used_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (identity_hash),
  INDEX identities_of_user (user_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS used_sign_ins (
  state_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  expires_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (state_hash),
  INDEX used_sign_ins_expiry (expires_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS sign_in_links (
  token_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  user_id BIGINT NOT NULL,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  expires_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (token_hash),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  INDEX sign_in_links_expiry (expires_at),
  INDEX sign_in_links_of_user (user_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS sessions (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'browser',
  token_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  user_agent LONGTEXT,
  address VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  provider VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
  id_token LONGTEXT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  last_seen_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  expires_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (token_hash),
  INDEX sessions_expiry (expires_at),
  INDEX sessions_of_user (user_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS subscriptions (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  feed_id BIGINT NOT NULL,
  title LONGTEXT,
  interval_seconds BIGINT,
  archive_policy VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
  paused INTEGER NOT NULL DEFAULT '0',
  same_story_once INTEGER NOT NULL DEFAULT '1',
  unread_count INTEGER NOT NULL DEFAULT '0',
  settings LONGTEXT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT subscriptions_once UNIQUE (user_id, feed_id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
  INDEX subscriptions_of_feed (feed_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS api_keys (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  name VARCHAR(190) NOT NULL,
  key_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  scopes LONGTEXT NOT NULL,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  last_used_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  expires_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  revoked_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  parent_key_id BIGINT,
  limited_to_groups INTEGER NOT NULL DEFAULT '0',
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (key_hash),
  INDEX api_keys_of_user (user_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS app_passwords (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  name VARCHAR(190) NOT NULL,
  password_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  fever_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  last_used_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  last_address VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  last_user_agent LONGTEXT,
  revoked_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (password_hash),
  UNIQUE (fever_hash),
  INDEX app_passwords_of_user (user_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS tombstones (
  feed_id BIGINT NOT NULL,
  guid VARCHAR(512) NOT NULL,
  purged_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  entry_id BIGINT,
  PRIMARY KEY (feed_id, guid),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
  INDEX tombstones_purged (purged_at, entry_id, feed_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS unread_lists (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  retired_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  replaced_marks LONGTEXT,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (token),
  INDEX unread_lists_of_user (user_id),
  INDEX unread_lists_retired (retired_at)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS webhooks (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  url VARCHAR(2048) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  secret LONGTEXT NOT NULL,
  events LONGTEXT NOT NULL,
  paused INTEGER NOT NULL DEFAULT '0',
  consecutive_failures INTEGER NOT NULL DEFAULT '0',
  last_success_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  last_error LONGTEXT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  INDEX webhooks_of_user (user_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS deliveries (
  id BIGINT NOT NULL AUTO_INCREMENT,
  webhook_id BIGINT NOT NULL,
  event VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  feed_id BIGINT NOT NULL,
  refresh_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  status VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'pending',
  attempts INTEGER NOT NULL DEFAULT '0',
  next_attempt_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  claim_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  http_status SMALLINT,
  last_error LONGTEXT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  finished_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (id),
  FOREIGN KEY(webhook_id) REFERENCES webhooks (id) ON DELETE CASCADE,
  INDEX deliveries_claimed (claim_token),
  INDEX deliveries_of_webhook (webhook_id, id),
  INDEX deliveries_waiting (status, next_attempt_at)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS entry_labels (
  label_id BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  sort_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (label_id, entry_id),
  FOREIGN KEY(label_id) REFERENCES labels (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  INDEX entry_labels_listed (label_id, sort_at, entry_id),
  INDEX labels_of_entry (entry_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS folder_subscriptions (
  folder_id BIGINT NOT NULL,
  subscription_id BIGINT NOT NULL,
  PRIMARY KEY (folder_id, subscription_id),
  FOREIGN KEY(folder_id) REFERENCES folders (id) ON DELETE CASCADE,
  FOREIGN KEY(subscription_id) REFERENCES subscriptions (id) ON DELETE CASCADE,
  INDEX folders_of_subscription (subscription_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS full_text_tasks (
  entry_id BIGINT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT '0',
  next_attempt_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  claim_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (entry_id),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  INDEX full_text_tasks_claimed (claim_token),
  INDEX full_text_tasks_waiting (next_attempt_at, entry_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS full_texts (
  entry_id BIGINT NOT NULL,
  selector_digest VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  fetched_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  url LONGTEXT NOT NULL,
  content_html LONGTEXT NOT NULL,
  PRIMARY KEY (entry_id, selector_digest),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS image_tasks (
  id BIGINT NOT NULL AUTO_INCREMENT,
  feed_id BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  position INTEGER NOT NULL DEFAULT '0',
  original_url LONGTEXT NOT NULL,
  status VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'pending',
  attempts INTEGER NOT NULL DEFAULT '0',
  next_attempt_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  claim_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  claimed_until VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  object_key VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin,
  content_type VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin,
  size BIGINT NOT NULL DEFAULT '0',
  sha256 VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  last_error LONGTEXT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  updated_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT image_tasks_position UNIQUE (entry_id, position),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  UNIQUE (object_key),
  INDEX image_tasks_claimed (claim_token),
  INDEX image_tasks_of_feed (feed_id, status, size, created_at),
  INDEX image_tasks_waiting (status, next_attempt_at)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS playback_positions (
  user_id BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  enclosure INTEGER NOT NULL,
  seconds INTEGER NOT NULL,
  played_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (user_id, entry_id, enclosure),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  INDEX playback_positions_of_entry (entry_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS pool_grants (
  group_id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  access VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  granted_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (group_id, user_id, access),
  FOREIGN KEY(group_id) REFERENCES pool_groups (id) ON DELETE CASCADE,
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  INDEX pool_grants_of_user (user_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS pool_items (
  id BIGINT NOT NULL AUTO_INCREMENT,
  group_id BIGINT NOT NULL,
  kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  entry_id BIGINT,
  text_id BIGINT,
  batch_id BIGINT NOT NULL,
  status SMALLINT NOT NULL DEFAULT '1',
  taken_by VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin,
  attempts INTEGER NOT NULL DEFAULT '0',
  changed_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  leased_until VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (id),
  CONSTRAINT pool_items_once UNIQUE (group_id, kind, entry_id),
  CONSTRAINT pool_items_text_once UNIQUE (group_id, kind, text_id),
  FOREIGN KEY(group_id) REFERENCES pool_groups (id) ON DELETE CASCADE,
  INDEX pool_items_next (group_id, kind, status, batch_id DESC, id),
  INDEX pool_items_taken (taken_by)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS pool_lists (
  group_id BIGINT NOT NULL,
  kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  life VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  rpop_seen_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (group_id, kind),
  FOREIGN KEY(group_id) REFERENCES pool_groups (id) ON DELETE CASCADE
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS pool_source_tables (
  group_id BIGINT NOT NULL,
  kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  table_name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  newest_id BIGINT NOT NULL,
  swept_id BIGINT NOT NULL,
  PRIMARY KEY (group_id, kind),
  FOREIGN KEY(group_id) REFERENCES pool_groups (id) ON DELETE CASCADE
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS pool_texts (
  id BIGINT NOT NULL AUTO_INCREMENT,
  group_id BIGINT NOT NULL,
  kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  external_id VARCHAR(190) NOT NULL,
  batch_id BIGINT NOT NULL,
  source VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  text LONGTEXT NOT NULL,
  added_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT pool_texts_once UNIQUE (group_id, kind, external_id),
  FOREIGN KEY(group_id) REFERENCES pool_groups (id) ON DELETE CASCADE,
  INDEX pool_texts_newest (group_id, kind, id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS revisions (
  id BIGINT NOT NULL AUTO_INCREMENT,
  entry_id BIGINT NOT NULL,
  number INTEGER NOT NULL DEFAULT '0',
  seen_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  digest VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  link LONGTEXT,
  title LONGTEXT,
  author LONGTEXT,
  summary LONGTEXT,
  content_html LONGTEXT,
  PRIMARY KEY (id),
  CONSTRAINT revisions_number UNIQUE (entry_id, number),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS states (
  user_id BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  read_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  starred_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  later_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  later_until VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  changed_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (user_id, entry_id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  INDEX states_changed (user_id, changed_at, entry_id),
  INDEX states_later (user_id, later_at, entry_id),
  INDEX states_later_expiry (later_until),
  INDEX states_of_entry (entry_id),
  INDEX states_read (user_id, read_at, entry_id),
  INDEX states_starred (user_id, starred_at, entry_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS api_key_pool_groups (
  api_key_id BIGINT NOT NULL,
  group_id BIGINT NOT NULL,
  PRIMARY KEY (api_key_id, group_id),
  FOREIGN KEY(api_key_id) REFERENCES api_keys (id) ON DELETE CASCADE,
  FOREIGN KEY(group_id) REFERENCES pool_groups (id) ON DELETE CASCADE
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS filters (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'filter',
  name VARCHAR(190) NOT NULL,
  query LONGTEXT NOT NULL,
  scope VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'all',
  folder_id BIGINT,
  subscription_id BIGINT,
  actions LONGTEXT NOT NULL,
  stops INTEGER NOT NULL DEFAULT '0',
  enabled INTEGER NOT NULL DEFAULT '0',
  position INTEGER NOT NULL DEFAULT '0',
  subject LONGTEXT,
  expires_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  hit_count INTEGER NOT NULL DEFAULT '0',
  last_hit_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  creation_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  deleted_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  FOREIGN KEY(folder_id) REFERENCES folders (id) ON DELETE SET NULL,
  FOREIGN KEY(subscription_id) REFERENCES subscriptions (id) ON DELETE SET NULL,
  INDEX filters_deleted (deleted_at),
  INDEX filters_of_folder (folder_id),
  INDEX filters_of_subscription (subscription_id),
  INDEX filters_of_user (user_id, position)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS filter_effects (
  user_id BIGINT NOT NULL,
  action VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  entry_id BIGINT NOT NULL,
  target_id BIGINT NOT NULL DEFAULT '0',
  filter_id BIGINT NOT NULL,
  job_id BIGINT,
  at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (user_id, action, entry_id, target_id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  FOREIGN KEY(filter_id) REFERENCES filters (id) ON DELETE CASCADE,
  INDEX filter_effects_of_entry (entry_id),
  INDEX filter_effects_of_filter (filter_id, entry_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS filter_hits (
  filter_id BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (filter_id, entry_id),
  FOREIGN KEY(filter_id) REFERENCES filters (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  INDEX filter_hits_of_entry (entry_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS filter_jobs (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  filter_id BIGINT NOT NULL,
  kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  status VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'running',
  running_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  undoes_job_id BIGINT,
  total INTEGER NOT NULL DEFAULT '0',
  looked_at INTEGER NOT NULL DEFAULT '0',
  changed INTEGER NOT NULL DEFAULT '0',
  chunk_start VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  finished_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  next_attempt_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  attempts INTEGER NOT NULL DEFAULT '0',
  last_error LONGTEXT,
  claim_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  claim_check INTEGER NOT NULL DEFAULT '0',
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  FOREIGN KEY(filter_id) REFERENCES filters (id) ON DELETE CASCADE,
  UNIQUE (running_key),
  INDEX filter_jobs_claimed (claim_token),
  INDEX filter_jobs_of_filter (filter_id, id),
  INDEX filter_jobs_of_user (user_id, id),
  INDEX filter_jobs_waiting (status, next_attempt_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS story_keys (
  story_key BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  PRIMARY KEY (story_key, entry_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS story_entries (
  entry_id BIGINT NOT NULL,
  story_id BIGINT NOT NULL,
  PRIMARY KEY (entry_id),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  INDEX story_entries_of_story (story_id, entry_id)
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS story_sketches (
  entry_id BIGINT NOT NULL,
  feed_id BIGINT NOT NULL,
  at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  sketch VARCHAR(400) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (entry_id),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
)CHARSET=utf8mb4 ENGINE=InnoDB ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS services (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name VARCHAR(190) NOT NULL,
  options LONGTEXT NOT NULL,
  by_key INTEGER NOT NULL DEFAULT '0',
  last_success_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  last_error LONGTEXT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  INDEX services_of_user (user_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS service_saves (
  id BIGINT NOT NULL AUTO_INCREMENT,
  service_id BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  status VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'pending',
  attempts INTEGER NOT NULL DEFAULT '0',
  next_attempt_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  claim_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  http_status SMALLINT,
  last_error LONGTEXT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  finished_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (id),
  CONSTRAINT service_saves_once UNIQUE (service_id, entry_id),
  FOREIGN KEY(service_id) REFERENCES services (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  INDEX service_saves_claimed (claim_token),
  INDEX service_saves_of_entry (entry_id),
  INDEX service_saves_waiting (status, next_attempt_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS notification_targets (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  name VARCHAR(190) NOT NULL,
  scheme VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  url LONGTEXT NOT NULL,
  events LONGTEXT NOT NULL,
  gap_minutes INTEGER NOT NULL DEFAULT '0',
  paused INTEGER NOT NULL DEFAULT '0',
  digest VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'none',
  next_digest_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  attempts INTEGER NOT NULL DEFAULT '0',
  next_attempt_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  claim_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  last_success_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  last_error LONGTEXT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  INDEX notification_targets_claimed (claim_token),
  INDEX notification_targets_digest (next_digest_at),
  INDEX notification_targets_due (next_attempt_at),
  INDEX notification_targets_of_user (user_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS notifications (
  id BIGINT NOT NULL AUTO_INCREMENT,
  target_id BIGINT NOT NULL,
  event VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  feed_id BIGINT NOT NULL DEFAULT '0',
  refresh_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  search_id BIGINT NOT NULL DEFAULT '0',
  entry_ids LONGTEXT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(target_id) REFERENCES notification_targets (id) ON DELETE CASCADE,
  INDEX notifications_of_target (target_id, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS watched_searches (
  target_id BIGINT NOT NULL,
  search_id BIGINT NOT NULL,
  after_entry_id BIGINT NOT NULL,
  checked_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (target_id, search_id),
  FOREIGN KEY(target_id) REFERENCES notification_targets (id) ON DELETE CASCADE,
  FOREIGN KEY(search_id) REFERENCES saved_searches (id) ON DELETE CASCADE,
  INDEX watched_searches_due (checked_at),
  INDEX watched_searches_of_search (search_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS output_feeds (
  id BIGINT NOT NULL AUTO_INCREMENT,
  user_id BIGINT NOT NULL,
  name VARCHAR(190) NOT NULL,
  list_kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  list_id BIGINT NOT NULL DEFAULT '0',
  secret_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  api_key_id BIGINT,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  last_used_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  last_address VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  last_user_agent LONGTEXT,
  revoked_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  content_digest VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  changed_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  announced_secret LONGTEXT,
  announced_digest VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  attempts INTEGER NOT NULL DEFAULT '0',
  next_attempt_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  claim_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (secret_hash),
  INDEX output_feeds_claimed (claim_token),
  INDEX output_feeds_of_user (user_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS output_feed_changes (
  id BIGINT NOT NULL AUTO_INCREMENT,
  output_feed_id BIGINT NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(output_feed_id) REFERENCES output_feeds (id) ON DELETE CASCADE,
  INDEX output_feed_changes_of_feed (output_feed_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS hub_subscriptions (
  id BIGINT NOT NULL AUTO_INCREMENT,
  feed_id BIGINT NOT NULL,
  hub_url LONGTEXT NOT NULL,
  topic_url LONGTEXT NOT NULL,
  topic_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  callback_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  secret VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  new_secret VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  wanted VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'subscribe',
  asked VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
  lease_until VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  last_push_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  attempts INTEGER NOT NULL DEFAULT '0',
  last_error LONGTEXT,
  next_attempt_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  claim_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  created_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT hub_subscriptions_once UNIQUE (feed_id, topic_hash),
  UNIQUE (callback_token),
  INDEX hub_subscriptions_claimed (claim_token),
  INDEX hub_subscriptions_waiting (next_attempt_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS hub_pushes (
  id BIGINT NOT NULL AUTO_INCREMENT,
  hub_subscription_id BIGINT NOT NULL,
  body_sha256 VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  object_key VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  body_bytes BIGINT NOT NULL DEFAULT '0',
  headers LONGTEXT NOT NULL,
  content_type LONGTEXT NOT NULL,
  received_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  attempts INTEGER NOT NULL DEFAULT '0',
  next_attempt_at VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin,
  claim_token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (id),
  CONSTRAINT hub_pushes_once UNIQUE (hub_subscription_id, body_sha256),
  FOREIGN KEY(hub_subscription_id) REFERENCES hub_subscriptions (id) ON DELETE CASCADE,
  INDEX hub_pushes_age (received_at),
  INDEX hub_pushes_claimed (claim_token),
  INDEX hub_pushes_waiting (next_attempt_at, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;
