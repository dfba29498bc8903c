"""Swedish: data alone."""

from __future__ import annotations

STOP_WORDS = """
alla att av de den det dig din där du efter ej eller en er ett för från ha han har hade hon
hur här i inte jag kan man med men mig min mot mycket ni nu när och om oss på sig sin som så
till under upp ut vad var varför vem vi vid vilken är
"""
