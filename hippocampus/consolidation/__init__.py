"""Deep consolidation: what a session leaves, and what the next one starts with. Names only."""
