"""Everything that is known of the providers' message formats. No I/O; no SDK is imported."""
