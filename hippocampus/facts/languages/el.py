"""Greek: data alone."""

from __future__ import annotations

STOP_WORDS = """
από για δεν είναι και με μου να ο η το οι τα του της των που πως πού ποιος πότε σε στο στη
στην τι τον την
"""
