"""What is on disk: payloads, the database of the sessions, the search index, and the files that hold them."""
