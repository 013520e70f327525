"""Robot programs: their steps, their time shared out, their plans."""
