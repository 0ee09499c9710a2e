"""`python -m kgrag` is the command line."""

from kgrag.cli import main

if __name__ == "__main__":
    main()
