"""The entry of one stored text: its fields, its id, its decay. Data and arithmetic; no I/O."""
