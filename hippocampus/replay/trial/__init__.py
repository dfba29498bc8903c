"""Trials: an agent that solves tasks, once with the whole list and once with the view, and what both cost."""
