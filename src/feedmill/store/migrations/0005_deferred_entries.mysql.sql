CREATE TABLE IF NOT EXISTS popular_feeds (
  feed_id BIGINT NOT NULL,
  newest_id BIGINT NOT NULL DEFAULT '0',
  PRIMARY KEY (feed_id),
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

ALTER TABLE subscriptions ADD COLUMN filled_to BIGINT NOT NULL DEFAULT '0';

CREATE TABLE IF NOT EXISTS deferred_entries (
  entry_id BIGINT NOT NULL,
  feed_id BIGINT NOT NULL,
  PRIMARY KEY (entry_id),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
  INDEX deferred_entries_of_feed (feed_id, entry_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

