"""An HTTP proxy between an agent and its provider: recognises conversations and sends their views."""
