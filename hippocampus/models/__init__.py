"""Token counts, and optional models as plain callables: embedding, completion and re-ranking."""
