"""What a robot must bear: loads in sections of links, equilibria, and the stand-in drives sized by
them."""
