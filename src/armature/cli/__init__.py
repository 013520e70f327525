"""The command line: one command, one file per verb; each verb is one library call. Heavy imports stay inside the verbs."""

from __future__ import annotations

import sys


def main() -> None:
    """The program `armature`. Ctrl-C while it is still being read ends it as quietly as later."""
    try:
        from armature.cli.main import run

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)


__all__ = ["main"]
