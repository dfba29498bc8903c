"""What is on disk: content, ledgers, archives, and the files that hold them."""
