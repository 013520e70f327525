"""How much a xacro file may ask for: counts of elements, calls, steps and characters, depth and
time."""

from __future__ import annotations

import time

MOST_ELEMENTS = 200_000  # of the expanded text
MOST_CALLS = 10_000  # of macros, and insertions of blocks
MOST_FILES = 500  # read, counted as often as they are included
MOST_STEPS = 500_000  # of expressions
MOST_CHARACTERS = 32 * 2**20  # of attributes and texts
LONGEST_VALUE = 1_000_000  # characters of one text
MOST_VALUES = 50_000  # of one list or mapping, in all levels
DEEPEST = 100  # macros, blocks and includes inside each other
MOST_SECONDS = 30.0


class XacroError(Exception):
    """What is wrong, without its place: whoever knows the element adds file and line."""


class Budget:
    """Counts what one expansion has used; each `take` raises a XacroError where its limit is
    exceeded."""

    def __init__(self) -> None:
        self.elements = self.calls = self.files = self.steps = self.characters = self.depth = 0
        self.end = time.monotonic() + MOST_SECONDS

    def take_element(self) -> None:
        """One more element of the expanded text."""
        self.elements += 1
        _within(self.elements, MOST_ELEMENTS, "elements are written")

    def take_call(self) -> None:
        """One more call of a macro or insertion of a block."""
        self.calls += 1
        _within(self.calls, MOST_CALLS, "macros are called")
        if time.monotonic() > self.end:
            raise XacroError(
                f"the expansion takes more than {MOST_SECONDS:.0f} s; simplify the macros"
            )

    def take_file(self) -> None:
        """One more file read."""
        self.files += 1
        _within(self.files, MOST_FILES, "files are included")

    def take_steps(self, steps: int = 1) -> None:
        """Steps of expressions; a list or text counts with its length."""
        self.steps += steps
        _within(self.steps, MOST_STEPS, "steps of expressions are computed")

    def take_characters(self, count: int) -> None:
        """Characters of attributes and texts."""
        self.characters += count
        _within(self.characters, MOST_CHARACTERS, "characters are written")

    def __enter__(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            self.depth -= 1
            raise XacroError(
                f"macros, blocks or includes are nested deeper than {DEEPEST}; does one call"
                " itself?"
            )

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


def _within(count: int, most: int, what: str) -> None:
    if count > most:
        raise XacroError(f"more than {most} {what}; a robot needs fewer: does a macro call itself?")
