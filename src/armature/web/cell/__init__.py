"""A cell of robots in the app: planned for all browsers, shown moving in one world."""
