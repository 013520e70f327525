"""Jobs, their files, saved plans and where they come from."""
