"""One conversation: the messages that a call sends to the model instead of its list."""
