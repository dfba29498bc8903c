"""Recorded sessions run through strategies, measured and reported."""
