"""Time scaling: a motion's path kept, its speed changed."""
