"""Long-term memory in one database: facts, memories, triples and blocks. Nothing is imported here."""
