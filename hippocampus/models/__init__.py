"""Token counts, and optional models as plain callables: embedding, completion, re-ranking."""
