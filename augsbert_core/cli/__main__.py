"""`python -m augsbert_core.cli` is `augsbert`."""

from augsbert_core.cli import main

if __name__ == "__main__":
    main()
