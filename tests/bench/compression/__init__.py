"""The exam of index entries: real content of each kind, 20 questions about each, one table."""
