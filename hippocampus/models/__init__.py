"""Models that help where one is given: plain callables, each provider's file standing alone."""
