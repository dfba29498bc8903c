"""One conversation: what each call sends to the model instead of its message list."""
