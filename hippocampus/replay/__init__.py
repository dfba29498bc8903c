"""Recorded sessions run through strategies, measured, and told to a person."""
