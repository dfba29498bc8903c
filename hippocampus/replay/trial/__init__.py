"""Trials: an agent solves tasks with the whole list and with the view; success and cost are compared."""
