DROP INDEX IF EXISTS feeds_claimed;

ALTER TABLE feeds SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

ALTER TABLE feeds ADD COLUMN next_fetch_why_moved TEXT;

ALTER TABLE feeds ADD COLUMN polling_hints_moved TEXT;

UPDATE feeds SET next_fetch_why_moved = next_fetch_why, polling_hints_moved = polling_hints;

ALTER TABLE feeds DROP COLUMN next_fetch_why;

ALTER TABLE feeds DROP COLUMN polling_hints;

ALTER TABLE feeds RENAME COLUMN next_fetch_why_moved TO next_fetch_why;

ALTER TABLE feeds RENAME COLUMN polling_hints_moved TO polling_hints;
