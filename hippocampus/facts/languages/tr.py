"""Turkish: data alone."""

from __future__ import annotations

STOP_WORDS = """
ama bu bir biri çok da daha de değil diye en gibi ha hangi hem her için ile ise kadar ki kim
mi mı mu mü nasıl ne neden nerede niçin o olan olarak şu ve veya ya
"""
