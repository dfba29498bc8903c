"""Models that help where one is given: plain callables over HTTP, each file standing alone."""
