"""`armature` and `python -m armature`: the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """The program `armature`. Ctrl-C while it is still being read ends it as quietly as later."""
    try:
        from armature.cli.main import run

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":  # processes of a cluster import this file
    main()
