"""A scripted agent that runs real tools and writes down its message list.

The sequence of calls stands in `sessions/`; what the tools answer does not, and no model is called.
"""
