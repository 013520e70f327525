"""Every tuning number of the planner, with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """One solve of a least time with all knots.

    fixed: joints keep their direction in every step in which their mean speed is above this part of
    the usual one (0: none does).  turning: whether joints turn only at knots.  start, end: of the
    smoothing parameter f.  barrier: μ to begin with.  jerk: weight of jerk, ρ/f.  accuracy: part of
    the duration left to gain at which it may end.  polish: whether arms without corners go through
    it too.
    """

    fixed: float
    turning: bool
    start: float
    end: float
    barrier: float
    jerk: float
    accuracy: float
    polish: bool


@dataclass(frozen=True)
class Settings:
    """f: the smoothing parameter, in units of a joint's usual speed (transcription/smoothed.py).

    What counts as what:
    allowed: part of a limit that may be exceeded between knots; the certificate allows 1e-3.
    misses, exceeds: rad or m, and part of a limit: what a coarse motion may be off to be gone on
    from.
    unbounded_speed: times the joint cubic's speed, of joints without a limit: a cost without a
    minimum.
    coarsest_step: rad or m from knot to knot, beyond which such a joint's motion is under-resolved.

    Homotopy:
    start, coarse, middle, end: f at the start, after the few knots, before directions are fixed,
    and at the end: at 0.005 the smoothed losses are within 0.5 % of the exact.  time_start,
    time_bent, time_coarse: at the start of a least time from the joint cubic, from other motions,
    and after the few knots.
    modes: parts of a joint's usual speed below which it has no direction in a step, and whether it
    stands there: the first pair, and the next where that leads to nothing better.
    jerk, jerk_slope: weight of jerk in a least energy, min(jerk, slope · f) of the losses: it
    removes the zigzag of flat problems.  jerk_time, jerk_least: in a least time, max(least,
    jerk_time · f).

    Work:
    coarse_knots: of the first stage.  leg_knots: of every leg of a least time, at least.
    tolerance, coarse_tolerance: of the optimality conditions.  accuracy, burnt_accuracy,
    time_accuracy: part of the cost left to gain at which a search may end: of an energy that is
    returned, or burnt where it comes back, and of a duration.  rows: violation, scaled, of what
    counts as solved.  stretch:
    whether rows may stretch where no step is left.  iterations, coarse_iterations: at most, of one
    solve.
    warm_barrier, again_barrier: μ to begin with from another stage, and from an earlier plan.
    cheap: starts of a least energy besides the joint cubic (shapes.py).
    short, bends: starts of a least time that a direct search finds, and with all joints bent at
    once.
    slower: factor on the shortest joint cubic's duration, with which a least time starts.
    stages: of a least time with all knots; the last fixes all directions, so that the law is exact.
    polishes, gain: repetitions of the last stage at most, while each gains this part of the
    duration.
    doublings, halvings: of a duration that is sought by plans of given durations where all else
    fails.

    Limits between knots:
    back_offs: re-solves at most.  no_progress: a re-solve that misses its goal by this part of what
    the one before did is the last.  back_off_power: of what is exceeded, in the factor on a limit.
    longer: a re-solve that makes a least time longer by this factor is given up.
    slowest: factor in duration up to which a least time that exceeds a limit is run slower instead.
    slowest_coarse: the same for motions with few knots, which are ranked by what they take then.
    """

    allowed: float = 9.5e-4
    misses: float = 1e-3
    exceeds: float = 0.1
    unbounded_speed: float = 30.0
    coarsest_step: float = 1.0
    start: float = 2.0
    coarse: float = 0.05
    middle: float = 0.01
    end: float = 0.005
    time_start: float = 1.0
    time_bent: float = 0.3
    time_coarse: float = 0.03
    modes: tuple[tuple[float, bool], ...] = ((1e-3, False), (0.02, True))
    jerk: float = 5e-4
    jerk_slope: float = 0.01
    jerk_time: float = 0.01
    jerk_least: float = 1e-6
    coarse_knots: int = 50
    leg_knots: int = 75
    tolerance: float = 1e-6
    coarse_tolerance: float = 1e-4
    accuracy: float = 1e-4
    burnt_accuracy: float = 1e-3
    time_accuracy: float = 1e-3
    rows: float = 1e-7
    stretch: bool = True
    iterations: int = 150
    coarse_iterations: int = 150
    warm_barrier: float = 1e-4
    again_barrier: float = 1e-5
    cheap: int = 2
    short: int = 1
    bends: int = 8
    slower: float = 1.05
    stages: tuple[Stage, ...] = (
        Stage(0.0, False, 0.03, 0.01, 1e-3, 0.1, 1e-3, True),
        Stage(0.1, False, 0.01, 0.01, 1e-3, 0.1, 1e-3, False),
        Stage(5e-3, True, 0.01, 0.005, 1e-4, 0.02, 1e-3, False),
        Stage(5e-3, True, 0.005, 0.005, 1e-4, 0.002, 1e-4, True),
    )
    doublings: int = 4
    halvings: int = 6
    polishes: int = 2
    gain: float = 1e-3
    back_offs: int = 10
    no_progress: float = 0.99
    back_off_power: float = 1.2
    longer: float = 1.05
    slowest: float = 1.3
    slowest_coarse: float = 3.0


SETTINGS = Settings()
