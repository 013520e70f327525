"""`python -m armature`: the command line."""

from armature.cli import main

main()
