"""Dutch: data alone."""

from __future__ import annotations

STOP_WORDS = """
aan al als bij dan dat de deze die dit door dus een en er haar had hebben heb heeft hem het
hier hij hoe hun ik in is je kan maar me met mijn naar niet nog nu of om omdat onder ons ook
op over te tot uit uw van veel voor waar wanneer waren waarom was wat we wel welke werd wie
wij wordt ze zich zij zijn zo zou
"""
