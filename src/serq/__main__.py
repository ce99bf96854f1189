"""`python -m serq`: the command line."""

import sys

from serq.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
