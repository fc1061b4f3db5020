CREATE TABLE IF NOT EXISTS audit (
  id BIGSERIAL NOT NULL,
  at VARCHAR(24) COLLATE "C" NOT NULL,
  user_id BIGINT,
  action VARCHAR(32) COLLATE "C" NOT NULL,
  subject TEXT,
  address VARCHAR(64) COLLATE "C",
  PRIMARY KEY (id)
);

CREATE INDEX IF NOT EXISTS audit_at ON audit (at);

CREATE TABLE IF NOT EXISTS batches (
  id BIGSERIAL NOT NULL,
  token VARCHAR(64) COLLATE "C" NOT NULL,
  kind VARCHAR(32) COLLATE "C" NOT NULL,
  user_id BIGINT,
  running_key VARCHAR(128) COLLATE "C",
  status VARCHAR(32) COLLATE "C" DEFAULT 'running' NOT NULL,
  total INTEGER DEFAULT '0' NOT NULL,
  report TEXT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  heartbeat_at VARCHAR(24) COLLATE "C" NOT NULL,
  finished_at VARCHAR(24) COLLATE "C",
  cancelled_at VARCHAR(24) COLLATE "C",
  PRIMARY KEY (id),
  UNIQUE (token),
  UNIQUE (running_key)
);

CREATE INDEX IF NOT EXISTS batches_of_user ON batches (user_id, created_at);

CREATE INDEX IF NOT EXISTS batches_running ON batches (status, heartbeat_at);

CREATE TABLE IF NOT EXISTS blocked_hosts (
  host VARCHAR(255) COLLATE "C" NOT NULL,
  at VARCHAR(24) COLLATE "C" NOT NULL,
  user_id BIGINT,
  PRIMARY KEY (host)
);

CREATE TABLE IF NOT EXISTS instance_state (
  name VARCHAR(128) COLLATE "C" NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (name)
);

CREATE TABLE IF NOT EXISTS feeds (
  id BIGSERIAL NOT NULL,
  url VARCHAR(2048) COLLATE "C" NOT NULL,
  host VARCHAR(255) COLLATE "C" NOT NULL,
  title TEXT,
  own_title TEXT,
  folder TEXT,
  site_url TEXT,
  description TEXT,
  language VARCHAR(64) COLLATE "C",
  icon_url TEXT,
  image_url TEXT,
  hub_url TEXT,
  topic_url TEXT,
  pushed_until VARCHAR(24) COLLATE "C",
  status VARCHAR(32) COLLATE "C" DEFAULT 'active' NOT NULL,
  archive_policy VARCHAR(32) COLLATE "C" DEFAULT 'all' NOT NULL,
  http_options TEXT,
  has_entry_settings INTEGER DEFAULT '0' NOT NULL,
  added_by_person INTEGER DEFAULT '0' NOT NULL,
  declared INTEGER DEFAULT '0' NOT NULL,
  etag TEXT,
  last_modified TEXT,
  body_sha256 VARCHAR(64) COLLATE "C",
  descriptor_sha256 VARCHAR(64) COLLATE "C",
  next_fetch_at VARCHAR(24) COLLATE "C",
  next_fetch_why TEXT,
  interval_seconds BIGINT,
  usual_gap_seconds BIGINT,
  polling_hints TEXT,
  last_fetched_at VARCHAR(24) COLLATE "C",
  last_success_at VARCHAR(24) COLLATE "C",
  last_entry_at VARCHAR(24) COLLATE "C",
  consecutive_failures INTEGER DEFAULT '0' NOT NULL,
  truncated_count INTEGER DEFAULT '0' NOT NULL,
  last_error TEXT,
  last_error_kind VARCHAR(32) COLLATE "C",
  gone_since VARCHAR(24) COLLATE "C",
  moved_to VARCHAR(2048) COLLATE "C",
  moved_count INTEGER DEFAULT '0' NOT NULL,
  merged_into BIGINT,
  certificate_until VARCHAR(24) COLLATE "C",
  entry_count INTEGER DEFAULT '0' NOT NULL,
  claim_token VARCHAR(64) COLLATE "C",
  claimed_until VARCHAR(24) COLLATE "C",
  claim_check INTEGER DEFAULT '0' NOT NULL,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (id),
  UNIQUE (url)
);

CREATE INDEX IF NOT EXISTS feeds_claimed ON feeds (claim_token);

CREATE INDEX IF NOT EXISTS feeds_due ON feeds (next_fetch_at);

CREATE INDEX IF NOT EXISTS feeds_host ON feeds (host);

CREATE TABLE IF NOT EXISTS object_garbage (
  id BIGSERIAL NOT NULL,
  key VARCHAR(512) COLLATE "C" NOT NULL,
  recorded_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (id),
  UNIQUE (key)
);

CREATE TABLE IF NOT EXISTS video_details (
  video VARCHAR(64) COLLATE "C" NOT NULL,
  title TEXT,
  picture_url TEXT,
  fetched_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (video)
);

CREATE TABLE IF NOT EXISTS sign_in_attempts (
  source_hash VARCHAR(64) COLLATE "C" NOT NULL,
  attempts INTEGER DEFAULT '0' NOT NULL,
  last_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (source_hash)
);

CREATE INDEX IF NOT EXISTS sign_in_attempts_age ON sign_in_attempts (last_at);

CREATE TABLE IF NOT EXISTS unread (
  list_id BIGINT NOT NULL,
  sort_at VARCHAR(24) COLLATE "C" NOT NULL,
  entry_id BIGINT NOT NULL,
  subscription_id BIGINT NOT NULL,
  PRIMARY KEY (list_id, sort_at, entry_id)
);

CREATE INDEX IF NOT EXISTS unread_of_subscription ON unread (list_id, subscription_id, sort_at, entry_id);

CREATE TABLE IF NOT EXISTS users (
  id BIGSERIAL NOT NULL,
  name VARCHAR(190) COLLATE "C" NOT NULL,
  password_hash TEXT,
  is_admin INTEGER DEFAULT '0' NOT NULL,
  status VARCHAR(32) COLLATE "C" DEFAULT 'active' NOT NULL,
  unread_list_id BIGINT DEFAULT '0' NOT NULL,
  settings TEXT,
  filters_version VARCHAR(64) COLLATE "C",
  quota_feeds BIGINT,
  quota_bytes BIGINT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  last_seen_at VARCHAR(24) COLLATE "C",
  two_factor_at VARCHAR(24) COLLATE "C",
  PRIMARY KEY (id),
  UNIQUE (name)
);

CREATE TABLE IF NOT EXISTS batch_jobs (
  batch_id BIGINT NOT NULL,
  feed_id BIGINT NOT NULL,
  outcome VARCHAR(32) COLLATE "C",
  new_entries INTEGER DEFAULT '0' NOT NULL,
  ms INTEGER DEFAULT '0' NOT NULL,
  message TEXT,
  finished_at VARCHAR(24) COLLATE "C",
  PRIMARY KEY (batch_id, feed_id),
  FOREIGN KEY(batch_id) REFERENCES batches (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS batch_jobs_done ON batch_jobs (batch_id, finished_at);

CREATE TABLE IF NOT EXISTS bookmarks (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  url VARCHAR(2048) COLLATE "C" NOT NULL,
  title TEXT,
  description TEXT,
  image_url TEXT,
  note TEXT,
  status VARCHAR(32) COLLATE "C" DEFAULT 'pending' NOT NULL,
  attempts INTEGER DEFAULT '0' NOT NULL,
  next_attempt_at VARCHAR(24) COLLATE "C",
  claim_token VARCHAR(64) COLLATE "C",
  last_error TEXT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  fetched_at VARCHAR(24) COLLATE "C",
  PRIMARY KEY (id),
  CONSTRAINT bookmarks_once UNIQUE (user_id, url),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS bookmarks_claimed ON bookmarks (claim_token);

CREATE INDEX IF NOT EXISTS bookmarks_listed ON bookmarks (user_id, created_at, id);

CREATE INDEX IF NOT EXISTS bookmarks_waiting ON bookmarks (status, next_attempt_at);

CREATE TABLE IF NOT EXISTS entries (
  id BIGSERIAL NOT NULL,
  feed_id BIGINT NOT NULL,
  guid VARCHAR(512) COLLATE "C" NOT NULL,
  sort_at VARCHAR(24) COLLATE "C" NOT NULL,
  refresh_token VARCHAR(64) COLLATE "C" NOT NULL,
  digest VARCHAR(64) COLLATE "C" NOT NULL,
  in_feed INTEGER DEFAULT '0' NOT NULL,
  first_seen_at VARCHAR(24) COLLATE "C" NOT NULL,
  last_seen_at VARCHAR(24) COLLATE "C" NOT NULL,
  published_at VARCHAR(24) COLLATE "C",
  undated INTEGER DEFAULT '0' NOT NULL,
  updated_at VARCHAR(24) COLLATE "C",
  revision_count INTEGER DEFAULT '0' NOT NULL,
  language VARCHAR(64) COLLATE "C",
  link TEXT,
  title TEXT,
  author TEXT,
  image_url TEXT,
  comments_url TEXT,
  base_url TEXT,
  categories TEXT,
  enclosures TEXT,
  summary TEXT,
  content_html TEXT,
  PRIMARY KEY (id),
  CONSTRAINT entries_identity UNIQUE (feed_id, guid),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS entries_in_feed ON entries (feed_id, in_feed, last_seen_at);

CREATE INDEX IF NOT EXISTS entries_of_feed ON entries (feed_id, sort_at, id);

CREATE TABLE IF NOT EXISTS feed_urls (
  id BIGSERIAL NOT NULL,
  feed_id BIGINT NOT NULL,
  url VARCHAR(2048) COLLATE "C" NOT NULL,
  until VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS feed_urls_feed ON feed_urls (feed_id);

CREATE INDEX IF NOT EXISTS feed_urls_url ON feed_urls (url);

CREATE TABLE IF NOT EXISTS fetch_log (
  id BIGSERIAL NOT NULL,
  feed_id BIGINT NOT NULL,
  at VARCHAR(24) COLLATE "C" NOT NULL,
  outcome VARCHAR(32) COLLATE "C" NOT NULL,
  http_status SMALLINT,
  bytes BIGINT DEFAULT '0' NOT NULL,
  ms INTEGER DEFAULT '0' NOT NULL,
  new_entries INTEGER DEFAULT '0' NOT NULL,
  revised_entries INTEGER DEFAULT '0' NOT NULL,
  message TEXT,
  PRIMARY KEY (id),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS fetch_log_at ON fetch_log (at);

CREATE INDEX IF NOT EXISTS fetch_log_of_feed ON fetch_log (feed_id, at);

CREATE TABLE IF NOT EXISTS folders (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  parent_id BIGINT DEFAULT '0' NOT NULL,
  name VARCHAR(190) COLLATE "C" NOT NULL,
  position INTEGER DEFAULT '0' NOT NULL,
  same_story_once INTEGER DEFAULT '1' NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT folders_once UNIQUE (user_id, parent_id, name),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS icons (
  feed_id BIGINT NOT NULL,
  url TEXT,
  sha256 VARCHAR(64) COLLATE "C",
  media_type VARCHAR(128) COLLATE "C",
  attempts INTEGER DEFAULT '0' NOT NULL,
  next_attempt_at VARCHAR(24) COLLATE "C" NOT NULL,
  claim_token VARCHAR(64) COLLATE "C",
  fetched_at VARCHAR(24) COLLATE "C",
  data TEXT,
  PRIMARY KEY (feed_id),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS icons_by_digest ON icons (sha256, feed_id);

CREATE INDEX IF NOT EXISTS icons_claimed ON icons (claim_token);

CREATE INDEX IF NOT EXISTS icons_waiting ON icons (next_attempt_at, feed_id);

CREATE TABLE IF NOT EXISTS labels (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  name VARCHAR(190) COLLATE "C" NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT labels_once UNIQUE (user_id, name),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS pool_groups (
  id BIGSERIAL NOT NULL,
  name VARCHAR(190) COLLATE "C" NOT NULL,
  rule TEXT NOT NULL,
  settings TEXT,
  paused INTEGER DEFAULT '0' NOT NULL,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  labels_user_id BIGINT,
  PRIMARY KEY (id),
  UNIQUE (name),
  FOREIGN KEY(labels_user_id) REFERENCES users (id) ON DELETE SET NULL
);

CREATE TABLE IF NOT EXISTS raw_bodies (
  id BIGSERIAL NOT NULL,
  feed_id BIGINT NOT NULL,
  key VARCHAR(512) COLLATE "C" NOT NULL,
  fetched_at VARCHAR(24) COLLATE "C" NOT NULL,
  http_status SMALLINT,
  headers TEXT,
  sha256 VARCHAR(64) COLLATE "C" NOT NULL,
  size BIGINT DEFAULT '0' NOT NULL,
  parse_result TEXT,
  entry_count INTEGER DEFAULT '0' NOT NULL,
  new_entries INTEGER DEFAULT '0' NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
  UNIQUE (key)
);

CREATE INDEX IF NOT EXISTS raw_bodies_age ON raw_bodies (fetched_at);

CREATE INDEX IF NOT EXISTS raw_bodies_of_feed ON raw_bodies (feed_id, fetched_at, size);

CREATE TABLE IF NOT EXISTS own_css (
  user_id BIGINT NOT NULL,
  css TEXT NOT NULL,
  PRIMARY KEY (user_id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS saved_searches (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  name VARCHAR(190) COLLATE "C" NOT NULL,
  query TEXT NOT NULL,
  position INTEGER DEFAULT '0' NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT saved_searches_once UNIQUE (user_id, name),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS totp_secrets (
  user_id BIGINT NOT NULL,
  secret TEXT NOT NULL,
  last_step BIGINT NOT NULL,
  PRIMARY KEY (user_id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS recovery_codes (
  code_hash VARCHAR(64) COLLATE "C" NOT NULL,
  user_id BIGINT NOT NULL,
  PRIMARY KEY (code_hash),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS recovery_codes_of_user ON recovery_codes (user_id);

CREATE TABLE IF NOT EXISTS identities (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  identity_hash VARCHAR(64) COLLATE "C" NOT NULL,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  label TEXT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  last_used_at VARCHAR(24) COLLATE "C",
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (identity_hash)
);

CREATE INDEX IF NOT EXISTS identities_of_user ON identities (user_id);

CREATE TABLE IF NOT EXISTS used_sign_ins (
  state_hash VARCHAR(64) COLLATE "C" NOT NULL,
  expires_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (state_hash)
);

CREATE INDEX IF NOT EXISTS used_sign_ins_expiry ON used_sign_ins (expires_at);

CREATE TABLE IF NOT EXISTS sign_in_links (
  token_hash VARCHAR(64) COLLATE "C" NOT NULL,
  user_id BIGINT NOT NULL,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  expires_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (token_hash),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS sign_in_links_expiry ON sign_in_links (expires_at);

CREATE INDEX IF NOT EXISTS sign_in_links_of_user ON sign_in_links (user_id);

CREATE TABLE IF NOT EXISTS sessions (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  kind VARCHAR(32) COLLATE "C" DEFAULT 'browser' NOT NULL,
  token_hash VARCHAR(64) COLLATE "C" NOT NULL,
  user_agent TEXT,
  address VARCHAR(64) COLLATE "C",
  provider VARCHAR(32) COLLATE "C",
  id_token TEXT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  last_seen_at VARCHAR(24) COLLATE "C" NOT NULL,
  expires_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (token_hash)
);

CREATE INDEX IF NOT EXISTS sessions_expiry ON sessions (expires_at);

CREATE INDEX IF NOT EXISTS sessions_of_user ON sessions (user_id);

CREATE TABLE IF NOT EXISTS subscriptions (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  feed_id BIGINT NOT NULL,
  title TEXT,
  interval_seconds BIGINT,
  archive_policy VARCHAR(32) COLLATE "C",
  paused INTEGER DEFAULT '0' NOT NULL,
  same_story_once INTEGER DEFAULT '1' NOT NULL,
  unread_count INTEGER DEFAULT '0' NOT NULL,
  settings TEXT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT subscriptions_once UNIQUE (user_id, feed_id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS subscriptions_of_feed ON subscriptions (feed_id);

CREATE TABLE IF NOT EXISTS api_keys (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  name VARCHAR(190) COLLATE "C" NOT NULL,
  key_hash VARCHAR(64) COLLATE "C" NOT NULL,
  scopes TEXT NOT NULL,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  last_used_at VARCHAR(24) COLLATE "C",
  expires_at VARCHAR(24) COLLATE "C",
  revoked_at VARCHAR(24) COLLATE "C",
  parent_key_id BIGINT,
  limited_to_groups INTEGER DEFAULT '0' NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (key_hash)
);

CREATE INDEX IF NOT EXISTS api_keys_of_user ON api_keys (user_id);

CREATE TABLE IF NOT EXISTS app_passwords (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  name VARCHAR(190) COLLATE "C" NOT NULL,
  password_hash VARCHAR(64) COLLATE "C" NOT NULL,
  fever_hash VARCHAR(64) COLLATE "C",
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  last_used_at VARCHAR(24) COLLATE "C",
  last_address VARCHAR(64) COLLATE "C",
  last_user_agent TEXT,
  revoked_at VARCHAR(24) COLLATE "C",
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (password_hash),
  UNIQUE (fever_hash)
);

CREATE INDEX IF NOT EXISTS app_passwords_of_user ON app_passwords (user_id);

CREATE TABLE IF NOT EXISTS tombstones (
  feed_id BIGINT NOT NULL,
  guid VARCHAR(512) COLLATE "C" NOT NULL,
  purged_at VARCHAR(24) COLLATE "C" NOT NULL,
  entry_id BIGINT,
  PRIMARY KEY (feed_id, guid),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS tombstones_purged ON tombstones (purged_at, entry_id, feed_id);

CREATE TABLE IF NOT EXISTS unread_lists (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  token VARCHAR(64) COLLATE "C",
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  retired_at VARCHAR(24) COLLATE "C",
  replaced_marks TEXT,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (token)
);

CREATE INDEX IF NOT EXISTS unread_lists_of_user ON unread_lists (user_id);

CREATE INDEX IF NOT EXISTS unread_lists_retired ON unread_lists (retired_at);

CREATE TABLE IF NOT EXISTS webhooks (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  url VARCHAR(2048) COLLATE "C" NOT NULL,
  secret TEXT NOT NULL,
  events TEXT NOT NULL,
  paused INTEGER DEFAULT '0' NOT NULL,
  consecutive_failures INTEGER DEFAULT '0' NOT NULL,
  last_success_at VARCHAR(24) COLLATE "C",
  last_error TEXT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS webhooks_of_user ON webhooks (user_id);

CREATE TABLE IF NOT EXISTS deliveries (
  id BIGSERIAL NOT NULL,
  webhook_id BIGINT NOT NULL,
  event VARCHAR(32) COLLATE "C" NOT NULL,
  feed_id BIGINT NOT NULL,
  refresh_token VARCHAR(64) COLLATE "C",
  status VARCHAR(32) COLLATE "C" DEFAULT 'pending' NOT NULL,
  attempts INTEGER DEFAULT '0' NOT NULL,
  next_attempt_at VARCHAR(24) COLLATE "C",
  claim_token VARCHAR(64) COLLATE "C",
  http_status SMALLINT,
  last_error TEXT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  finished_at VARCHAR(24) COLLATE "C",
  PRIMARY KEY (id),
  FOREIGN KEY(webhook_id) REFERENCES webhooks (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS deliveries_claimed ON deliveries (claim_token);

CREATE INDEX IF NOT EXISTS deliveries_of_webhook ON deliveries (webhook_id, id);

CREATE INDEX IF NOT EXISTS deliveries_waiting ON deliveries (status, next_attempt_at);

CREATE TABLE IF NOT EXISTS entry_labels (
  label_id BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  sort_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (label_id, entry_id),
  FOREIGN KEY(label_id) REFERENCES labels (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS entry_labels_listed ON entry_labels (label_id, sort_at, entry_id);

CREATE INDEX IF NOT EXISTS labels_of_entry ON entry_labels (entry_id);

CREATE TABLE IF NOT EXISTS folder_subscriptions (
  folder_id BIGINT NOT NULL,
  subscription_id BIGINT NOT NULL,
  PRIMARY KEY (folder_id, subscription_id),
  FOREIGN KEY(folder_id) REFERENCES folders (id) ON DELETE CASCADE,
  FOREIGN KEY(subscription_id) REFERENCES subscriptions (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS folders_of_subscription ON folder_subscriptions (subscription_id);

CREATE TABLE IF NOT EXISTS full_text_tasks (
  entry_id BIGINT NOT NULL,
  attempts INTEGER DEFAULT '0' NOT NULL,
  next_attempt_at VARCHAR(24) COLLATE "C" NOT NULL,
  claim_token VARCHAR(64) COLLATE "C",
  PRIMARY KEY (entry_id),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS full_text_tasks_claimed ON full_text_tasks (claim_token);

CREATE INDEX IF NOT EXISTS full_text_tasks_waiting ON full_text_tasks (next_attempt_at, entry_id);

CREATE TABLE IF NOT EXISTS full_texts (
  entry_id BIGINT NOT NULL,
  selector_digest VARCHAR(64) COLLATE "C" DEFAULT '' NOT NULL,
  fetched_at VARCHAR(24) COLLATE "C" NOT NULL,
  url TEXT NOT NULL,
  content_html TEXT NOT NULL,
  PRIMARY KEY (entry_id, selector_digest),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS image_tasks (
  id BIGSERIAL NOT NULL,
  feed_id BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  position INTEGER DEFAULT '0' NOT NULL,
  original_url TEXT NOT NULL,
  status VARCHAR(32) COLLATE "C" DEFAULT 'pending' NOT NULL,
  attempts INTEGER DEFAULT '0' NOT NULL,
  next_attempt_at VARCHAR(24) COLLATE "C",
  claim_token VARCHAR(64) COLLATE "C",
  claimed_until VARCHAR(24) COLLATE "C",
  object_key VARCHAR(512) COLLATE "C",
  content_type VARCHAR(128) COLLATE "C",
  size BIGINT DEFAULT '0' NOT NULL,
  sha256 VARCHAR(64) COLLATE "C",
  last_error TEXT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  updated_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT image_tasks_position UNIQUE (entry_id, position),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  UNIQUE (object_key)
);

CREATE INDEX IF NOT EXISTS image_tasks_claimed ON image_tasks (claim_token);

CREATE INDEX IF NOT EXISTS image_tasks_of_feed ON image_tasks (feed_id, status, size, created_at);

CREATE INDEX IF NOT EXISTS image_tasks_waiting ON image_tasks (status, next_attempt_at);

CREATE TABLE IF NOT EXISTS playback_positions (
  user_id BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  enclosure INTEGER NOT NULL,
  seconds INTEGER NOT NULL,
  played_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (user_id, entry_id, enclosure),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS playback_positions_of_entry ON playback_positions (entry_id);

CREATE TABLE IF NOT EXISTS pool_grants (
  group_id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  access VARCHAR(32) COLLATE "C" NOT NULL,
  granted_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (group_id, user_id, access),
  FOREIGN KEY(group_id) REFERENCES pool_groups (id) ON DELETE CASCADE,
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS pool_grants_of_user ON pool_grants (user_id);

CREATE TABLE IF NOT EXISTS pool_items (
  id BIGSERIAL NOT NULL,
  group_id BIGINT NOT NULL,
  kind VARCHAR(32) COLLATE "C" NOT NULL,
  entry_id BIGINT,
  text_id BIGINT,
  batch_id BIGINT NOT NULL,
  status SMALLINT DEFAULT '1' NOT NULL,
  taken_by VARCHAR(128) COLLATE "C",
  attempts INTEGER DEFAULT '0' NOT NULL,
  changed_at VARCHAR(24) COLLATE "C" NOT NULL,
  leased_until VARCHAR(24) COLLATE "C",
  PRIMARY KEY (id),
  CONSTRAINT pool_items_once UNIQUE (group_id, kind, entry_id),
  CONSTRAINT pool_items_text_once UNIQUE (group_id, kind, text_id),
  FOREIGN KEY(group_id) REFERENCES pool_groups (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS pool_items_next ON pool_items (group_id, kind, status, batch_id DESC, id);

CREATE INDEX IF NOT EXISTS pool_items_taken ON pool_items (taken_by);

CREATE TABLE IF NOT EXISTS pool_lists (
  group_id BIGINT NOT NULL,
  kind VARCHAR(32) COLLATE "C" NOT NULL,
  life VARCHAR(64) COLLATE "C",
  rpop_seen_at VARCHAR(24) COLLATE "C",
  PRIMARY KEY (group_id, kind),
  FOREIGN KEY(group_id) REFERENCES pool_groups (id) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS pool_source_tables (
  group_id BIGINT NOT NULL,
  kind VARCHAR(32) COLLATE "C" NOT NULL,
  table_name VARCHAR(64) COLLATE "C" NOT NULL,
  newest_id BIGINT NOT NULL,
  swept_id BIGINT NOT NULL,
  PRIMARY KEY (group_id, kind),
  FOREIGN KEY(group_id) REFERENCES pool_groups (id) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS pool_texts (
  id BIGSERIAL NOT NULL,
  group_id BIGINT NOT NULL,
  kind VARCHAR(32) COLLATE "C" NOT NULL,
  external_id VARCHAR(190) COLLATE "C" NOT NULL,
  batch_id BIGINT NOT NULL,
  source VARCHAR(128) COLLATE "C" NOT NULL,
  text TEXT NOT NULL,
  added_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT pool_texts_once UNIQUE (group_id, kind, external_id),
  FOREIGN KEY(group_id) REFERENCES pool_groups (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS pool_texts_newest ON pool_texts (group_id, kind, id);

CREATE TABLE IF NOT EXISTS revisions (
  id BIGSERIAL NOT NULL,
  entry_id BIGINT NOT NULL,
  number INTEGER DEFAULT '0' NOT NULL,
  seen_at VARCHAR(24) COLLATE "C" NOT NULL,
  digest VARCHAR(64) COLLATE "C" NOT NULL,
  link TEXT,
  title TEXT,
  author TEXT,
  summary TEXT,
  content_html TEXT,
  PRIMARY KEY (id),
  CONSTRAINT revisions_number UNIQUE (entry_id, number),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS states (
  user_id BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  read_at VARCHAR(24) COLLATE "C",
  starred_at VARCHAR(24) COLLATE "C",
  later_at VARCHAR(24) COLLATE "C",
  later_until VARCHAR(24) COLLATE "C",
  changed_at VARCHAR(24) COLLATE "C",
  PRIMARY KEY (user_id, entry_id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS states_changed ON states (user_id, changed_at, entry_id);

CREATE INDEX IF NOT EXISTS states_later ON states (user_id, later_at, entry_id);

CREATE INDEX IF NOT EXISTS states_later_expiry ON states (later_until);

CREATE INDEX IF NOT EXISTS states_of_entry ON states (entry_id);

CREATE INDEX IF NOT EXISTS states_read ON states (user_id, read_at, entry_id);

CREATE INDEX IF NOT EXISTS states_starred ON states (user_id, starred_at, entry_id);

CREATE TABLE IF NOT EXISTS api_key_pool_groups (
  api_key_id BIGINT NOT NULL,
  group_id BIGINT NOT NULL,
  PRIMARY KEY (api_key_id, group_id),
  FOREIGN KEY(api_key_id) REFERENCES api_keys (id) ON DELETE CASCADE,
  FOREIGN KEY(group_id) REFERENCES pool_groups (id) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS filters (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  kind VARCHAR(32) COLLATE "C" DEFAULT 'filter' NOT NULL,
  name VARCHAR(190) COLLATE "C" NOT NULL,
  query TEXT NOT NULL,
  scope VARCHAR(32) COLLATE "C" DEFAULT 'all' NOT NULL,
  folder_id BIGINT,
  subscription_id BIGINT,
  actions TEXT NOT NULL,
  stops INTEGER DEFAULT '0' NOT NULL,
  enabled INTEGER DEFAULT '0' NOT NULL,
  position INTEGER DEFAULT '0' NOT NULL,
  subject TEXT,
  expires_at VARCHAR(24) COLLATE "C",
  hit_count INTEGER DEFAULT '0' NOT NULL,
  last_hit_at VARCHAR(24) COLLATE "C",
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  creation_key VARCHAR(64) COLLATE "C",
  deleted_at VARCHAR(24) COLLATE "C",
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  FOREIGN KEY(folder_id) REFERENCES folders (id) ON DELETE SET NULL,
  FOREIGN KEY(subscription_id) REFERENCES subscriptions (id) ON DELETE SET NULL
);

CREATE INDEX IF NOT EXISTS filters_deleted ON filters (deleted_at);

CREATE INDEX IF NOT EXISTS filters_of_folder ON filters (folder_id);

CREATE INDEX IF NOT EXISTS filters_of_subscription ON filters (subscription_id);

CREATE INDEX IF NOT EXISTS filters_of_user ON filters (user_id, position);

CREATE TABLE IF NOT EXISTS filter_effects (
  user_id BIGINT NOT NULL,
  action VARCHAR(32) COLLATE "C" NOT NULL,
  entry_id BIGINT NOT NULL,
  target_id BIGINT DEFAULT '0' NOT NULL,
  filter_id BIGINT NOT NULL,
  job_id BIGINT,
  at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (user_id, action, entry_id, target_id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  FOREIGN KEY(filter_id) REFERENCES filters (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS filter_effects_of_entry ON filter_effects (entry_id);

CREATE INDEX IF NOT EXISTS filter_effects_of_filter ON filter_effects (filter_id, entry_id);

CREATE TABLE IF NOT EXISTS filter_hits (
  filter_id BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (filter_id, entry_id),
  FOREIGN KEY(filter_id) REFERENCES filters (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS filter_hits_of_entry ON filter_hits (entry_id);

CREATE TABLE IF NOT EXISTS filter_jobs (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  filter_id BIGINT NOT NULL,
  kind VARCHAR(32) COLLATE "C" NOT NULL,
  status VARCHAR(32) COLLATE "C" DEFAULT 'running' NOT NULL,
  running_key VARCHAR(64) COLLATE "C",
  undoes_job_id BIGINT,
  total INTEGER DEFAULT '0' NOT NULL,
  looked_at INTEGER DEFAULT '0' NOT NULL,
  changed INTEGER DEFAULT '0' NOT NULL,
  chunk_start VARCHAR(64) COLLATE "C" DEFAULT '' NOT NULL,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  finished_at VARCHAR(24) COLLATE "C",
  next_attempt_at VARCHAR(24) COLLATE "C",
  attempts INTEGER DEFAULT '0' NOT NULL,
  last_error TEXT,
  claim_token VARCHAR(64) COLLATE "C",
  claim_check INTEGER DEFAULT '0' NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  FOREIGN KEY(filter_id) REFERENCES filters (id) ON DELETE CASCADE,
  UNIQUE (running_key)
);

CREATE INDEX IF NOT EXISTS filter_jobs_claimed ON filter_jobs (claim_token);

CREATE INDEX IF NOT EXISTS filter_jobs_of_filter ON filter_jobs (filter_id, id);

CREATE INDEX IF NOT EXISTS filter_jobs_of_user ON filter_jobs (user_id, id);

CREATE INDEX IF NOT EXISTS filter_jobs_waiting ON filter_jobs (status, next_attempt_at);

CREATE TABLE IF NOT EXISTS story_keys (
  story_key BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  PRIMARY KEY (story_key, entry_id)
);

CREATE TABLE IF NOT EXISTS story_entries (
  entry_id BIGINT NOT NULL,
  story_id BIGINT NOT NULL,
  PRIMARY KEY (entry_id),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS story_entries_of_story ON story_entries (story_id, entry_id);

CREATE TABLE IF NOT EXISTS story_sketches (
  entry_id BIGINT NOT NULL,
  feed_id BIGINT NOT NULL,
  at VARCHAR(24) COLLATE "C" NOT NULL,
  sketch VARCHAR(400) COLLATE "C" NOT NULL,
  PRIMARY KEY (entry_id),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS services (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  kind VARCHAR(32) COLLATE "C" NOT NULL,
  name VARCHAR(190) COLLATE "C" NOT NULL,
  options TEXT NOT NULL,
  by_key INTEGER DEFAULT '0' NOT NULL,
  last_success_at VARCHAR(24) COLLATE "C",
  last_error TEXT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS services_of_user ON services (user_id);

CREATE TABLE IF NOT EXISTS service_saves (
  id BIGSERIAL NOT NULL,
  service_id BIGINT NOT NULL,
  entry_id BIGINT NOT NULL,
  status VARCHAR(32) COLLATE "C" DEFAULT 'pending' NOT NULL,
  attempts INTEGER DEFAULT '0' NOT NULL,
  next_attempt_at VARCHAR(24) COLLATE "C",
  claim_token VARCHAR(64) COLLATE "C",
  http_status SMALLINT,
  last_error TEXT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  finished_at VARCHAR(24) COLLATE "C",
  PRIMARY KEY (id),
  CONSTRAINT service_saves_once UNIQUE (service_id, entry_id),
  FOREIGN KEY(service_id) REFERENCES services (id) ON DELETE CASCADE,
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS service_saves_claimed ON service_saves (claim_token);

CREATE INDEX IF NOT EXISTS service_saves_of_entry ON service_saves (entry_id);

CREATE INDEX IF NOT EXISTS service_saves_waiting ON service_saves (status, next_attempt_at);

CREATE TABLE IF NOT EXISTS notification_targets (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  name VARCHAR(190) COLLATE "C" NOT NULL,
  scheme VARCHAR(32) COLLATE "C" NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  gap_minutes INTEGER DEFAULT '0' NOT NULL,
  paused INTEGER DEFAULT '0' NOT NULL,
  digest VARCHAR(32) COLLATE "C" DEFAULT 'none' NOT NULL,
  next_digest_at VARCHAR(24) COLLATE "C",
  attempts INTEGER DEFAULT '0' NOT NULL,
  next_attempt_at VARCHAR(24) COLLATE "C" NOT NULL,
  claim_token VARCHAR(64) COLLATE "C",
  last_success_at VARCHAR(24) COLLATE "C",
  last_error TEXT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS notification_targets_claimed ON notification_targets (claim_token);

CREATE INDEX IF NOT EXISTS notification_targets_digest ON notification_targets (next_digest_at);

CREATE INDEX IF NOT EXISTS notification_targets_due ON notification_targets (next_attempt_at);

CREATE INDEX IF NOT EXISTS notification_targets_of_user ON notification_targets (user_id);

CREATE TABLE IF NOT EXISTS notifications (
  id BIGSERIAL NOT NULL,
  target_id BIGINT NOT NULL,
  event VARCHAR(32) COLLATE "C" NOT NULL,
  feed_id BIGINT DEFAULT '0' NOT NULL,
  refresh_token VARCHAR(64) COLLATE "C",
  search_id BIGINT DEFAULT '0' NOT NULL,
  entry_ids TEXT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(target_id) REFERENCES notification_targets (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS notifications_of_target ON notifications (target_id, id);

CREATE TABLE IF NOT EXISTS watched_searches (
  target_id BIGINT NOT NULL,
  search_id BIGINT NOT NULL,
  after_entry_id BIGINT NOT NULL,
  checked_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (target_id, search_id),
  FOREIGN KEY(target_id) REFERENCES notification_targets (id) ON DELETE CASCADE,
  FOREIGN KEY(search_id) REFERENCES saved_searches (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS watched_searches_due ON watched_searches (checked_at);

CREATE INDEX IF NOT EXISTS watched_searches_of_search ON watched_searches (search_id);

CREATE TABLE IF NOT EXISTS output_feeds (
  id BIGSERIAL NOT NULL,
  user_id BIGINT NOT NULL,
  name VARCHAR(190) COLLATE "C" NOT NULL,
  list_kind VARCHAR(32) COLLATE "C" NOT NULL,
  list_id BIGINT DEFAULT '0' NOT NULL,
  secret_hash VARCHAR(64) COLLATE "C" NOT NULL,
  api_key_id BIGINT,
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  last_used_at VARCHAR(24) COLLATE "C",
  last_address VARCHAR(64) COLLATE "C",
  last_user_agent TEXT,
  revoked_at VARCHAR(24) COLLATE "C",
  content_digest VARCHAR(64) COLLATE "C",
  changed_at VARCHAR(24) COLLATE "C",
  announced_secret TEXT,
  announced_digest VARCHAR(64) COLLATE "C",
  attempts INTEGER DEFAULT '0' NOT NULL,
  next_attempt_at VARCHAR(24) COLLATE "C" NOT NULL,
  claim_token VARCHAR(64) COLLATE "C",
  PRIMARY KEY (id),
  FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (secret_hash)
);

CREATE INDEX IF NOT EXISTS output_feeds_claimed ON output_feeds (claim_token);

CREATE INDEX IF NOT EXISTS output_feeds_of_user ON output_feeds (user_id);

CREATE TABLE IF NOT EXISTS output_feed_changes (
  id BIGSERIAL NOT NULL,
  output_feed_id BIGINT NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(output_feed_id) REFERENCES output_feeds (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS output_feed_changes_of_feed ON output_feed_changes (output_feed_id);

CREATE TABLE IF NOT EXISTS hub_subscriptions (
  id BIGSERIAL NOT NULL,
  feed_id BIGINT NOT NULL,
  hub_url TEXT NOT NULL,
  topic_url TEXT NOT NULL,
  topic_hash VARCHAR(64) COLLATE "C" NOT NULL,
  callback_token VARCHAR(64) COLLATE "C" NOT NULL,
  secret VARCHAR(64) COLLATE "C",
  new_secret VARCHAR(64) COLLATE "C",
  wanted VARCHAR(32) COLLATE "C" DEFAULT 'subscribe' NOT NULL,
  asked VARCHAR(32) COLLATE "C",
  lease_until VARCHAR(24) COLLATE "C",
  last_push_at VARCHAR(24) COLLATE "C",
  attempts INTEGER DEFAULT '0' NOT NULL,
  last_error TEXT,
  next_attempt_at VARCHAR(24) COLLATE "C" NOT NULL,
  claim_token VARCHAR(64) COLLATE "C",
  created_at VARCHAR(24) COLLATE "C" NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT hub_subscriptions_once UNIQUE (feed_id, topic_hash),
  UNIQUE (callback_token)
);

CREATE INDEX IF NOT EXISTS hub_subscriptions_claimed ON hub_subscriptions (claim_token);

CREATE INDEX IF NOT EXISTS hub_subscriptions_waiting ON hub_subscriptions (next_attempt_at);

CREATE TABLE IF NOT EXISTS hub_pushes (
  id BIGSERIAL NOT NULL,
  hub_subscription_id BIGINT NOT NULL,
  body_sha256 VARCHAR(64) COLLATE "C" NOT NULL,
  object_key VARCHAR(512) COLLATE "C" NOT NULL,
  body_bytes BIGINT DEFAULT '0' NOT NULL,
  headers TEXT NOT NULL,
  content_type TEXT NOT NULL,
  received_at VARCHAR(24) COLLATE "C" NOT NULL,
  attempts INTEGER DEFAULT '0' NOT NULL,
  next_attempt_at VARCHAR(24) COLLATE "C",
  claim_token VARCHAR(64) COLLATE "C",
  PRIMARY KEY (id),
  CONSTRAINT hub_pushes_once UNIQUE (hub_subscription_id, body_sha256),
  FOREIGN KEY(hub_subscription_id) REFERENCES hub_subscriptions (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS hub_pushes_age ON hub_pushes (received_at);

CREATE INDEX IF NOT EXISTS hub_pushes_claimed ON hub_pushes (claim_token);

CREATE INDEX IF NOT EXISTS hub_pushes_waiting ON hub_pushes (next_attempt_at, id);
