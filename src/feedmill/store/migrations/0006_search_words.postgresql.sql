DROP TABLE IF EXISTS search_texts;

CREATE TABLE IF NOT EXISTS search_texts (
  entry_id BIGINT NOT NULL,
  place BIGINT NOT NULL,
  words TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (entry_id),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
) WITH (toast_tuple_target = 128);

ALTER TABLE search_texts ALTER COLUMN words SET STORAGE MAIN;

DO 'BEGIN ALTER TABLE search_texts ALTER COLUMN words SET COMPRESSION lz4; EXCEPTION WHEN feature_not_supported OR syntax_error THEN NULL; END';

CREATE INDEX IF NOT EXISTS search_texts_place ON search_texts (place);

CREATE INDEX IF NOT EXISTS search_texts_words ON search_texts USING gin (array_to_tsvector(string_to_array(words, ' ')));

DELETE FROM instance_state WHERE name = 'maintenance:index_entries';

INSERT INTO instance_state (name, value) SELECT 'index_incomplete', 'yes' WHERE EXISTS (SELECT 1 FROM entries)
  ON CONFLICT DO NOTHING;
