"""`python -m dispatcher.cli` is `hyperfleet-adapter`."""

import sys

from dispatcher.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
