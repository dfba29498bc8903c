"""Payloads, the database of sessions and the search index: the files of a state directory."""
