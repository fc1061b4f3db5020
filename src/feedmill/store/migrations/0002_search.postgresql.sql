CREATE TABLE IF NOT EXISTS search_texts (
  entry_id BIGINT NOT NULL,
  place BIGINT NOT NULL,
  words TSVECTOR NOT NULL,
  PRIMARY KEY (entry_id),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS search_texts_place ON search_texts (place);

CREATE INDEX IF NOT EXISTS search_texts_words ON search_texts USING gin (words);
