"""Recorded sessions of other agents, read into recordings; one module for each format.

Nothing here measures, and nothing imports the session.
"""

from hippocampus.replay.readers.discover import find_files, read_file, read_path
from hippocampus.replay.readers.formats import format_names

__all__ = ["find_files", "format_names", "read_file", "read_path"]
