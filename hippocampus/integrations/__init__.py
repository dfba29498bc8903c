"""Adapters for agent frameworks: one file each, and none imports another.

`adapter` has what they share. Importing this package loads no framework.
"""
