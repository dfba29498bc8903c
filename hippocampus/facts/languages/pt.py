"""Portuguese: data alone."""

from __future__ import annotations

STOP_WORDS = """
a ao aos as à às com como da das de do dos e é ela ele eles em era essa esse esta este está eu
foi há isso já lhe mais mas me meu minha muito na nas não no nos nós o onde os ou para pela
pelo por porque qual quais quando quanto que quem se sem ser seu seus sua suas só são também
te tem um uma você
"""
