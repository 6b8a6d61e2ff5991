"""``python -m armdyn`` is the command line."""

import sys

from armdyn.cli import main

if __name__ == "__main__":
    sys.exit(main())
