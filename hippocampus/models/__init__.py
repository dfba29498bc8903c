"""Optional models as plain callables: embedding, completion, re-ranking. One module a provider."""
