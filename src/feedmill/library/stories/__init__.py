"""Stories: joins entries that are the same article, and shows and reads them together."""
