"""Measurements on public benchmarks, from files that the user has."""
