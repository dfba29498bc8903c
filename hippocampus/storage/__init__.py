"""Payloads and the database of sessions, the files of a state directory; the search index in memory.

Reads and writes raise `StoreError` where a state cannot be read or written; docstrings have other errors.
"""
