CREATE TABLE IF NOT EXISTS search_unindexed (entry_id INTEGER NOT NULL PRIMARY KEY);

DROP TRIGGER IF EXISTS search_added;

DROP TRIGGER IF EXISTS search_dropped;

DROP TRIGGER IF EXISTS search_changed;

CREATE TRIGGER IF NOT EXISTS search_added AFTER INSERT ON search_texts BEGIN
  INSERT INTO search_unindexed (entry_id) VALUES (new.entry_id); END;

CREATE TRIGGER IF NOT EXISTS search_dropped AFTER DELETE ON search_texts BEGIN
  INSERT INTO search_index(search_index, rowid, title, author, words)
  SELECT 'delete', old.place, old.title, old.author, old.words
  WHERE NOT EXISTS (SELECT 1 FROM search_unindexed WHERE entry_id = old.entry_id); DELETE FROM search_unindexed
  WHERE entry_id = old.entry_id; END;

CREATE TRIGGER IF NOT EXISTS search_changed AFTER UPDATE ON search_texts
  WHEN NOT EXISTS (SELECT 1 FROM search_unindexed WHERE entry_id = old.entry_id) BEGIN
  INSERT INTO search_index(search_index, rowid, title, author, words)
  VALUES ('delete', old.place, old.title, old.author, old.words); INSERT INTO search_index(rowid, title, author, words)
  VALUES (new.place, new.title, new.author, new.words); END;
