"""Italian: data alone."""

from __future__ import annotations

STOP_WORDS = """
a ad al alla alle ai agli anche che chi ci come con cosa cui da dal dalla dei del della delle
di dove e è ed era gli ha hanno ho i il in io la le lei li lo loro lui ma mi mio nel nella no
noi non o per perché più qual quale quali quando quanto sei si sono su sua sul suo ti tra tu
un una uno vi voi
"""
