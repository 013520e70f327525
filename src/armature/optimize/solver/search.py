"""The filter: a step is taken when it lowers the violation or the barrier cost enough (Wächter and
Biegler 2006)."""

from __future__ import annotations

GAMMA_THETA, GAMMA_PHI, ETA = 1e-5, 1e-8, 1e-8
SLACKNESS = 10 * 2.2e-16  # relative rounding error of the barrier cost


def steepness(slope: float) -> float:
    """|slope|^2.3, within what numbers can hold."""
    return max(min(-slope, 1e100) ** 2.3, 1e-250)


class Filter:
    """Pairs (violation θ, barrier cost φ) that a new iterate must beat."""

    def __init__(self, theta: float):
        self.smallest, self.largest = 1e-4 * max(1.0, theta), 1e4 * max(1.0, theta)
        self.pairs: list[tuple[float, float]] = []

    def clear(self) -> None:
        """Forget: the barrier has changed, and old costs mean nothing."""
        self.pairs.clear()

    def allows(self, theta: float, phi: float) -> bool:
        """Whether no pair is better in both."""
        return theta <= self.largest and all(theta < t or phi < f for t, f in self.pairs)

    def add(self, theta: float, phi: float) -> None:
        """Forbid what is not clearly better than this pair."""
        t, f = (1 - GAMMA_THETA) * theta, phi - GAMMA_PHI * theta
        self.pairs = [(a, b) for a, b in self.pairs if a < t or b < f] + [(t, f)]

    def accepts(
        self, trial: tuple[float, float], old: tuple[float, float], slope: float, alpha: float
    ) -> str | None:
        """ "cost" or "violation": what the trial improves enough; None when it must be refused."""
        (theta, phi), (theta0, phi0) = trial, old
        noise = SLACKNESS * max(1.0, abs(phi0))
        if not self.allows(theta, phi - noise):
            return None
        if slope < 0.0 and theta0 <= self.smallest and alpha * steepness(slope) > theta0**1.1:
            return "cost" if phi - phi0 - noise <= ETA * alpha * slope else None
        better = theta <= (1 - GAMMA_THETA) * theta0 or phi - noise <= phi0 - GAMMA_PHI * theta0
        return "violation" if better else None

    def shortest(self, theta: float, slope: float) -> float:
        """The step below which the search gives up."""
        bound = GAMMA_THETA
        if slope < 0.0:
            bound = min(bound, GAMMA_PHI * theta / -slope)
            if theta <= self.smallest:
                bound = min(bound, theta**1.1 / steepness(slope))
        return max(0.05 * bound, 1e-12)
