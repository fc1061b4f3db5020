CREATE TABLE IF NOT EXISTS search_texts (
  place INTEGER NOT NULL PRIMARY KEY,
  entry_id INTEGER NOT NULL UNIQUE REFERENCES entries (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  author TEXT NOT NULL,
  words TEXT NOT NULL
);

CREATE VIRTUAL TABLE IF NOT EXISTS search_index USING fts5(
  title, author, words, content='search_texts', content_rowid='place', tokenize='ascii'
);

CREATE TRIGGER IF NOT EXISTS search_added AFTER INSERT ON search_texts BEGIN
  INSERT INTO search_index(rowid, title, author, words)
  VALUES (new.place, new.title, new.author, new.words); END;

CREATE TRIGGER IF NOT EXISTS search_dropped AFTER DELETE ON search_texts BEGIN
  INSERT INTO search_index(search_index, rowid, title, author, words)
  VALUES ('delete', old.place, old.title, old.author, old.words); END;

CREATE TRIGGER IF NOT EXISTS search_changed AFTER UPDATE ON search_texts BEGIN
  INSERT INTO search_index(search_index, rowid, title, author, words)
  VALUES ('delete', old.place, old.title, old.author, old.words); INSERT INTO search_index(rowid, title, author, words)
  VALUES (new.place, new.title, new.author, new.words); END;

INSERT INTO search_index(search_index, rank) VALUES ('automerge', 32);

INSERT INTO search_index(search_index, rank) VALUES ('crisismerge', 128);
