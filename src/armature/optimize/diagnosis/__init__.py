"""Why a task cannot be done, told after the search."""
