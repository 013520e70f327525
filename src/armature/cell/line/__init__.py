"""Tasks allocated to the stations of a line."""
