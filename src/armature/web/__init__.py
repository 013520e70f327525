"""The app in the browser: a browser's state, its planning thread, what is seen, and who may see it.
No numerics."""
