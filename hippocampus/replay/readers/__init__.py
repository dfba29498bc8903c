"""Recorded sessions of other agents, read into recordings; one module for each format.

Nothing here measures, and nothing imports the session.
"""

from hippocampus.replay.readers.discover import find_files, read_file

__all__ = ["find_files", "read_file"]
