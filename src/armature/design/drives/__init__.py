"""The choice of motors and gears: bounds, search, and what was found."""
