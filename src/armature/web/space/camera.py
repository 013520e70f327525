"""Where the camera stands so that given points fill the part of the window that no panel covers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# from where the robot is looked at: x is its front, z is up
VIEWS = {
    "Front": (1.0, 0.0, 0.0),
    "Side": (0.0, -1.0, 0.0),
    "Top": (0.0, -1e-3, 1.0),
    "Iso": (1.0, -0.95, 0.55),
}
FIELD = np.radians(40.0)  # of view, upright
MARGIN = 1.07  # times as large as it is, what the camera sees in full
PHONE = 576  # pixels: the widest window in which viser puts its panels into a sheet at the bottom
SHEET = 0.48  # of a phone's height that the sheet may cover; the page's style says the same


@dataclass(frozen=True)
class Window:
    """The canvas. width, height: pixels.  covered: the part of its height, from below, that a sheet
    covers."""

    width: float
    height: float
    covered: float = 0.0

    @property
    def phone(self) -> bool:
        """Whether panels lie over the canvas instead of beside it."""
        return self.covered > 0.0


def canvas(width: float, height: float, beside: float) -> Window:
    """The canvas in a window of this size (pixels) with panels of the width `beside` at its sides,
    or a sheet on a phone."""
    if width <= PHONE:
        return Window(width, height, SHEET)
    return Window(max(width - beside, 120.0), height)


def fit(points: np.ndarray, view: str, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """(position, look_at) of a camera that sees all points (k, 3) from one of the VIEWS; z is up,
    the field of view is FIELD."""
    back = np.array(VIEWS[view]) / np.linalg.norm(VIEWS[view])
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(back, right), back])
    local = points @ axes.T
    centre = (local.min(axis=0) + local.max(axis=0)) / 2
    x, y, z = MARGIN * (local - centre).T
    tall, hidden = np.tan(FIELD / 2), window.covered
    wide = tall * window.width / window.height
    # at the distance d, a point is seen at x / (d - z) within ± wide, and at (y + hidden tall d) /
    # (d - z) above what is hidden
    sides = np.abs(x) / wide + z
    above = (y / tall + z) / (1 - hidden)
    below = ((1 - 2 * hidden) * z - y / tall) / (1 - hidden)
    away = float(np.max([sides, above, below]))
    middle = axes.T @ centre - hidden * tall * away * axes[1]
    return middle + away * back, middle
