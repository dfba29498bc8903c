"""The files on disk: payloads, ledgers, archives, and the files that hold them."""
