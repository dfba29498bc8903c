"""Payloads and the database of sessions, the files of a state directory; the search index in memory."""
