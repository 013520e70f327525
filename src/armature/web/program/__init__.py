"""A robot program in the app: its steps as the page edits them, and its plan as the page shows it."""
