"""Every tuning number of the pipeline (pipeline.py), with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """One solve of a least time with all knots. fixed: joints keep their directions in every step in which their mean speed is above this
    part of the usual (0: none does).  turning: whether joints turn only at knots, with every step's direction fixed.
    start, end: of the smoothing parameter f.  barrier: μ to begin with.  jerk: ρ/f."""

    fixed: float
    turning: bool
    start: float
    end: float
    barrier: float
    jerk: float


@dataclass(frozen=True)
class Settings:
    """f: the smoothing parameter, in units of a joint's usual speed (smoothed.py).

    start, coarse, middle, end: f at the start, after the few knots, before directions are fixed, and at the end: at 0.005 the rounded
    losses are within 0.5 % of the exact.
    standing: parts of a joint's usual speed below which it has no direction of its own in a step: the first, and where that fails.
    coarse_knots: of the first stage.  leg_knots: of every leg of a least time through via points, at least: each has its own bangs.
    jerk, jerk_slope: weight of jerk in a least energy, min(jerk, slope · f) of the losses: removes the zigzag of flat problems.
    jerk_time, jerk_least: the same in a least time, max(least, jerk · f) of the duration.
    tolerance, coarse_tolerance: of the optimality conditions.  accuracy, coarse_accuracy: part of the cost left to gain at which a
    search may end: energies are flat, a per mille is less than what their corners are rounded by.
    iterations, coarse_, fine_, turn_iterations: at most, of one solve: about twice the median.
    warm_barrier, back_off_barrier, again_barrier: μ to begin with from the few
    knots, with limits drawn in, and from an earlier plan.
    back_offs: at most.  back_off_power: of what is exceeded, in the factor of a limit.  enough: part of a limit that may be exceeded.
    longer: a re-solve that makes a least time longer than this is given up.
    late: part of the duration after which the second start sets out.
    detours: starts of a least time besides the joint cubic: all joints bent away from it to one side, and to the other.
    slower: factor on the shortest joint cubic's duration, so that a least time starts inside its limits.
    stages: of a least time with all knots; the last one fixes all directions, so that joints turn at knots and the law is exact.
    slowest: factor in duration up to which a motion that exceeds a limit a little is run slower instead.
    """

    start: float = 2.0
    coarse: float = 0.05
    middle: float = 0.01
    end: float = 0.005
    factor: float = 0.5
    coarse_knots: int = 50
    leg_knots: int = 75
    jerk: float = 5e-4
    jerk_slope: float = 0.01
    jerk_time: float = 0.1
    jerk_least: float = 1e-5
    tolerance: float = 1e-6
    coarse_tolerance: float = 1e-4
    accuracy: float = 1e-3
    coarse_accuracy: float = 1e-3
    iterations: int = 120
    coarse_iterations: int = 150
    fine_iterations: int = 70
    turn_iterations: int = 80
    warm_barrier: float = 1e-4
    back_off_barrier: float = 1e-4
    again_barrier: float = 1e-5
    back_offs: int = 6
    back_off_power: float = 1.2
    enough: float = 9.5e-4
    longer: float = 1.05
    late: float = 0.65
    standing: tuple[float, ...] = (1e-3, 0.02)
    slower: float = 1.05
    detours: int = 2
    slowest: float = 1.005
    time_start: float = 1.0
    time_coarse: float = 0.03
    stages: tuple[Stage, ...] = (
        Stage(0.0, False, 0.03, 0.01, 1e-3, 0.1),
        Stage(0.1, False, 0.01, 0.01, 1e-3, 0.1),
        Stage(1e-3, True, 0.01, 0.005, 1e-4, 0.02),
    )


SETTINGS = Settings()
