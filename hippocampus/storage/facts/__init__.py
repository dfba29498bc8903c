"""The SQL of the fact store: rows in, frozen values out. What a statement means is decided in `facts`."""
