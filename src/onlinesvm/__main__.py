"""`python -m onlinesvm` is the command line, also where its script is not on the path."""

from onlinesvm.cli import main

if __name__ == "__main__":
    main()
