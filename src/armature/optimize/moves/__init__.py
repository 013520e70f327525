"""The public functions on moves: least energy, least time, energy against time, ways round."""
