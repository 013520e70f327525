"""Small charts as SVG text: quick enough to be drawn anew with every plan, sharp at any size, and
without a drawing library."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

INK, GRID, FRAME = (
    "currentColor",
    "rgba(128,136,148,0.2)",
    "rgba(128,136,148,0.65)",
)  # legible on white and on black
TEXT = "var(--mantine-color-text)"  # of the page, light or dark
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#555555", "#999933")


@dataclass
class Chart:
    """One chart: lines and regions in units of the data. width, height: of the picture, in its own
    units."""

    title: str
    x: str
    y: str
    width: float = 330.0
    height: float = 170.0
    extra: str = ""
    highest: float = math.inf
    _marks: list[tuple] = field(default_factory=list)
    _box: list[float] = field(default_factory=lambda: [math.inf, -math.inf, math.inf, -math.inf])

    def cover(self, x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> None:
        """Make the chart reach over these values."""
        for k, values in ((0, x), (2, y)):
            good = np.asarray(values, dtype=float)
            good = good[np.isfinite(good)]
            if good.size:
                self._box[k], self._box[k + 1] = (
                    min(self._box[k], float(good.min())),
                    max(self._box[k + 1], float(good.max())),
                )

    def keep(self, highest: float) -> None:
        """Show no values beyond ±highest, so that what matters is large."""
        self.highest = highest

    def line(
        self,
        x: np.ndarray,
        y: np.ndarray,
        colour: str,
        width: float = 1.6,
        dash: str = "",
        label: str = "",
    ) -> None:
        """A line; it breaks where values are not finite."""
        self.cover(x, y)
        self._marks.append(("line", np.asarray(x), np.asarray(y), colour, width, dash, label))

    def region(
        self, x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str, label: str = ""
    ) -> None:
        """The area between two lines."""
        self.cover(x, low)
        self.cover(x, high)
        self._marks.append(
            ("region", np.asarray(x), np.asarray(low), np.asarray(high), colour, label)
        )

    def dot(self, x: float, y: float, colour: str, radius: float = 3.5, label: str = "") -> None:
        """A point."""
        self.cover([x], [y])
        self._marks.append(("dot", x, y, colour, radius, label))

    def upright(self, x: float, colour: str, dash: str = "4 3") -> None:
        """A vertical line over the whole height."""
        self.cover([x], [])
        self._marks.append(("upright", x, colour, dash))

    # drawing -------------------------------------------------------------------------------------

    def frame(self) -> tuple[float, float, float, float]:
        """Left, right, top and bottom of the plotting area."""
        return 46.0, self.width - 8.0, 22.0, self.height - 30.0

    def limits(self) -> tuple[float, float, float, float]:
        """The values at the sides of the plotting area: x from, to; y from, to."""
        x0, x1, y0, y1 = (
            v if math.isfinite(v) else d for v, d in zip(self._box, (0.0, 1.0, 0.0, 1.0))
        )
        x1 = x1 if x1 > x0 else x0 + 1.0
        y0, y1 = max(y0, -self.highest), min(y1, self.highest)
        room = 0.06 * (y1 - y0) or 0.5
        return x0, x1, y0 - room, y1 + room

    def svg(self) -> str:
        """The chart as the text of an <svg> element."""
        left, right, top, bottom = self.frame()
        x0, x1, y0, y1 = self.limits()
        X = lambda x: left + (np.asarray(x, dtype=float) - x0) / (x1 - x0) * (right - left)
        Y = lambda y: bottom - (np.asarray(y, dtype=float) - y0) / (y1 - y0) * (bottom - top)
        body = [self._ticks(X, Y), *(self._mark(m, X, Y, top, bottom) for m in self._marks)]
        clip = f"c{abs(hash((self.title, self.x, self.y)))}"
        size = (
            f'viewBox="0 0 {self.width:g} {self.height:g}"'
            f' style="width:100%;display:block;color:{TEXT}" {self.extra}'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}><clipPath id="{clip}"><rect x="{left}"'
            f' y="{top}" width="{right - left}" height="{bottom - top}"/></clipPath><text'
            f' x="{left}" y="13" font-size="11" font-weight="600"'
            f' fill="{INK}">{html.escape(self.title)}</text>{body[0]}<g'
            f' clip-path="url(#{clip})">{"".join(body[1:])}</g>{self._legend(right)}</svg>'
        )

    def _ticks(self, X, Y) -> str:
        left, right, top, bottom = self.frame()
        x0, x1, y0, y1 = self.limits()
        text = f'font-size="9.5" fill="{INK}"'
        parts = []
        for v in nice(y0, y1, 4):
            parts.append(
                f'<line x1="{left}" x2="{right}" y1="{Y(v):.1f}" y2="{Y(v):.1f}"'
                f' stroke="{FRAME if v == 0 else GRID}"/>'
            )
            parts.append(
                f'<text x="{left - 5}" y="{Y(v) + 3:.1f}" text-anchor="end" {text}>{v:g}</text>'
            )
        for v in nice(x0, x1, 5):
            parts.append(
                f'<line y1="{top}" y2="{bottom}" x1="{X(v):.1f}" x2="{X(v):.1f}"'
                f' stroke="{FRAME if v == 0 else GRID}"/>'
            )
            parts.append(
                f'<text x="{X(v):.1f}" y="{bottom + 12}" text-anchor="middle" {text}>{v:g}</text>'
            )
        middle = (left + right) / 2
        parts.append(
            f'<text x="{middle}" y="{self.height - 6}" text-anchor="middle"'
            f" {text}>{html.escape(self.x)}</text>"
        )
        turned = f'transform="translate(10 {(top + bottom) / 2:.0f}) rotate(-90)"'
        parts.append(f'<text {turned} text-anchor="middle" {text}>{html.escape(self.y)}</text>')
        return "".join(parts)

    def _mark(self, mark: tuple, X, Y, top: float, bottom: float) -> str:
        kind, *values = mark
        if kind == "line":
            x, y, colour, width, dash, _ = values
            style = f'fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"'
            return "".join(
                f'<path d="M{points(X(a), Y(b))}" {style} stroke-dasharray="{dash}"/>'
                for a, b in runs(x, y)
            )
        if kind == "region":
            x, low, high, colour, _ = values
            good = np.isfinite(low) & np.isfinite(high)
            shape = points(
                np.concatenate([X(x[good]), X(x[good])[::-1]]),
                np.concatenate([Y(low[good]), Y(high[good])[::-1]]),
            )
            return f'<path d="M{shape}Z" fill="{colour}" stroke="none"/>' if good.any() else ""
        if kind == "dot":
            x, y, colour, radius, _ = values
            return (
                f'<circle cx="{X(x):.1f}" cy="{Y(y):.1f}" r="{radius}" fill="{colour}"'
                ' stroke="white"/>'
            )
        x, colour, dash = values
        return (
            f'<line x1="{X(x):.1f}" x2="{X(x):.1f}" y1="{top}" y2="{bottom}" stroke="{colour}"'
            f' stroke-dasharray="{dash}"/>'
        )

    def _legend(self, right: float) -> str:
        """Names at the top right, from right to left."""
        colour_at = {"line": 3, "region": 4, "dot": 3}
        named = [(m[-1], m[colour_at[m[0]]]) for m in self._marks if m[0] != "upright" and m[-1]]
        parts, x = [], right
        for label, colour in reversed(named):
            x -= 5.2 * len(label)
            parts.append(
                f'<text x="{x:.0f}" y="13" font-size="9.5" fill="{INK}">{html.escape(label)}</text>'
            )
            x -= 11
            parts.append(f'<rect x="{x:.0f}" y="6" width="8" height="8" rx="2" fill="{colour}"/>')
            x -= 7
        return "".join(parts)


def nice(low: float, high: float, count: int) -> list[float]:
    """Round numbers between two values, about so many."""
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-12) / count))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (step * f) <= count + 0.5)
    first = math.ceil(low / step - 1e-9)
    return [
        0.0 if k == 0 else float(f"{k * step:.12g}")
        for k in range(first, math.floor(high / step + 1e-9) + 1)
    ]


def points(x: np.ndarray, y: np.ndarray) -> str:
    """Coordinates as an SVG path has them."""
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist()))


def runs(x: np.ndarray, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The pieces of a line between values that are not finite."""
    good = np.isfinite(x) & np.isfinite(y)
    edges = np.flatnonzero(np.diff(good.astype(int))) + 1
    return [
        (a, b)
        for a, b, g in zip(np.split(x, edges), np.split(y, edges), np.split(good, edges))
        if len(a) and g[0]
    ]
