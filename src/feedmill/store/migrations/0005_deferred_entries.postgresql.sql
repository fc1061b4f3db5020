CREATE TABLE IF NOT EXISTS popular_feeds (
  feed_id BIGINT NOT NULL,
  newest_id BIGINT DEFAULT '0' NOT NULL,
  PRIMARY KEY (feed_id),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE
);

ALTER TABLE subscriptions ADD COLUMN filled_to BIGINT DEFAULT '0' NOT NULL;

CREATE TABLE IF NOT EXISTS deferred_entries (
  entry_id BIGINT NOT NULL,
  feed_id BIGINT NOT NULL,
  PRIMARY KEY (entry_id),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS deferred_entries_of_feed ON deferred_entries (feed_id, entry_id);

