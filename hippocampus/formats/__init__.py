"""The providers' message formats: one adapter a format, and all that depends on a format.

Pure: no I/O, and no SDK is imported. A new format is one adapter module and its line in
`reader.FORMATS`; blocks and counts in words of its own are in `conversation`, `images`, `usage`
and `reader`.
"""
