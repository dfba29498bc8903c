"""Deep consolidation: what a session leaves behind, and what the next one starts with. Names only."""
