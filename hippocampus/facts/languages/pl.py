"""Polish: data alone."""

from __future__ import annotations

STOP_WORDS = """
a aby ale bo był była były być co czy dla do gdy gdzie go i ich im ja jak jaka jaki jakie jego
jej jest już kiedy kto która który mnie mi mój na nad nie o od on ona oni po pod przy się są
ta tak tam te tego ten to tu ty tym w we wy z za ze że
"""
