"""Files that recordings come from."""
