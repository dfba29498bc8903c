"""`python -m hippocampus` runs the command `hippocampus`."""

from hippocampus.cli import main

if __name__ == "__main__":
    main()
