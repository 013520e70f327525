"""`python -m armature`: the command line."""

from armature.cli import main

if __name__ == "__main__":  # processes of a cluster import this file
    main()
