"""Content in, index entry out: the lines that stay in the view when a text leaves it.

Pure and deterministic; nothing is stored, and nothing that comes later is looked at.
"""

from hippocampus.indexing.extraction import ExtractionContext
from hippocampus.indexing.kinds import kind_of
from hippocampus.indexing.select import Index, Price, index, price_of

__all__ = ["ExtractionContext", "Index", "Price", "index", "kind_of", "price_of"]
