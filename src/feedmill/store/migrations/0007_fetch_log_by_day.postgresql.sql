DO $$ DECLARE following_day TEXT; BEGIN
  IF (SELECT relkind FROM pg_class WHERE oid = CAST('fetch_log' AS regclass)) = 'p' THEN RETURN; END IF
  ; ALTER TABLE fetch_log RENAME TO fetch_log_earlier
  ; ALTER TABLE fetch_log_earlier RENAME CONSTRAINT fetch_log_feed_id_fkey TO fetch_log_earlier_feed_id_fkey
  ; ALTER INDEX fetch_log_at RENAME TO fetch_log_earlier_at
  ; ALTER INDEX fetch_log_of_feed RENAME TO fetch_log_earlier_of_feed
  ; ALTER TABLE fetch_log_earlier DROP CONSTRAINT fetch_log_pkey
  ; CREATE TABLE fetch_log (
    id BIGINT DEFAULT nextval('fetch_log_id_seq') NOT NULL,
    feed_id BIGINT NOT NULL,
    at VARCHAR(24) COLLATE "C" NOT NULL,
    outcome VARCHAR(32) COLLATE "C" NOT NULL,
    http_status SMALLINT,
    bytes BIGINT DEFAULT '0' NOT NULL,
    ms INTEGER DEFAULT '0' NOT NULL,
    new_entries INTEGER DEFAULT '0' NOT NULL,
    revised_entries INTEGER DEFAULT '0' NOT NULL,
    message TEXT,
    PRIMARY KEY (id, at),
    FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE
  ) PARTITION BY RANGE (at)
  ; ALTER SEQUENCE fetch_log_id_seq OWNED BY fetch_log.id
  ; SELECT to_char(greatest(now() AT TIME ZONE 'UTC', CAST(max(at) AS timestamp)) + INTERVAL '1 day', 'YYYY-MM-DD')
    INTO following_day FROM fetch_log_earlier HAVING max(at) IS NOT NULL
  ; IF following_day IS NULL THEN DROP TABLE fetch_log_earlier
  ; ELSE
    ALTER TABLE fetch_log_earlier ADD PRIMARY KEY (id, at)
    ; EXECUTE format('ALTER TABLE fetch_log ATTACH PARTITION fetch_log_earlier FOR VALUES FROM (MINVALUE) TO (%L)', following_day)
  ; END IF
; END $$;

CREATE TABLE IF NOT EXISTS fetch_log_default PARTITION OF fetch_log DEFAULT;

CREATE INDEX IF NOT EXISTS fetch_log_at ON fetch_log (at);

CREATE INDEX IF NOT EXISTS fetch_log_of_feed ON fetch_log (feed_id, at);
