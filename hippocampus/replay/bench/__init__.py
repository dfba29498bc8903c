"""Measurements on public benchmarks; each reads a file that the user has, and returns figures."""
