"""`python -m hippocampus` is the command `hippocampus`."""

from hippocampus.cli import main

if __name__ == "__main__":
    main()
