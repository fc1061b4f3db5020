CREATE TABLE IF NOT EXISTS search_texts (
  entry_id BIGINT NOT NULL,
  place BIGINT NOT NULL,
  words LONGTEXT NOT NULL,
  PRIMARY KEY (entry_id),
  FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
  INDEX search_texts_place (place),
  FULLTEXT INDEX search_texts_words (words)
) CHARSET=utf8mb4 COLLATE utf8mb4_bin ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
