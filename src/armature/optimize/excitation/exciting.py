"""`exciting_motion`: the motion of a given duration, within all limits, after which the parameters
are known best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from armature.dynamics.positioning.heights import part_heights
from armature.errors import ArgumentError
from armature.identify.regressor import check_robot
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import Certificate, certify
from armature.optimize.certificate.margins import worst_margin
from armature.optimize.certificate.obstacles import clearance
from armature.optimize.excitation.fourier import Family
from armature.optimize.excitation.information import (
    Experiment,
    condition_numbers,
    experiment,
)
from armature.optimize.planner.floor import floor_under
from armature.robot.model import Robot
from armature.scene.measure import distance
from armature.scene.scene import Scene
from armature.simulate.rehearse import torque_limits

CRITERIA = ("E", "D")
# random motions: the best begins the search, the feasible ones are what the result is compared with
STARTS = 48
# part of its amplitude with which a random motion must be feasible to be compared with
SMALLEST = 0.3
SHARP = 2.0  # the least eigenvalue as −log Σ λ^(−2)/2, which is smooth
STEP = 1e-5  # of finite differences
SAMPLES_PER_PERIOD = 10  # of the highest harmonic
KNOTS_PER_PERIOD = 48
SHRINK = 0.93  # of the amplitude, where a limit that the search does not know is exceeded
MOST_SHRINKS = 30
KEPT_TORQUE = 0.85  # of torque limits, in the search
KEPT_HEIGHT = 0.03  # m above the floor and from obstacles, in the search
PENALTY = 1e4
SHORTEST = 2.0  # s


@dataclass(frozen=True, eq=False)
class ExcitingMotion:
    """A motion for a recording, with its proof.

    trajectory: begins and ends at rest in the same place.  certificate: of limits and simulation.
    condition: condition number of the torques' derivatives by the parameters, in units of noise and
    of the parameters' typical sizes.
    random_condition: median of random motions of the same kind, each as large as the same limits
    allow.
    error_ratio: mean (geometric) standard error of the parameters after a random motion over that
    after this one."""

    trajectory: Trajectory
    certificate: Certificate
    condition: float
    random_condition: float
    error_ratio: float

    def __str__(self) -> str:
        return (
            f"exciting motion of {self.trajectory.duration:.4g} s: condition number"
            f" {self.condition:.4g} (random motions {self.random_condition:.4g}), standard errors"
            f" {self.error_ratio:.2f} times smaller than after these\n{self.certificate}"
        )


def exciting_motion(
    robot: Robot,
    duration: float,
    harmonics: int | None = None,
    criterion: str = "E",
    scene: Scene | None = None,
    floor: Any = "auto",
    iterations: int = 40,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> ExcitingMotion:
    """A motion within all limits of joints and drives after which a robot's parameters are known
    best.

    duration: s, one period.  harmonics: of each joint's Fourier series; by default half of them per
    second, 5 to 10.
    criterion: "E", the worst known combination as well known as possible; "D", least volume of the
    parameters' errors.
    scene: obstacles to keep clear of, links among themselves included.  floor: as in `Move`: a
    height (m), "auto" or None. Inertial base parameters, rotors, viscous and Coulomb friction and
    offsets count, with noise in proportion to torque limits."""
    check_robot(robot)
    if not (np.isfinite(duration) and duration >= SHORTEST) or criterion not in CRITERIA:
        raise ArgumentError(
            f"duration = {duration!r} s must be at least {SHORTEST:g} s, criterion = {criterion!r}"
            f" one of {', '.join(CRITERIA)}"
        )
    count = int(np.clip(round(duration / 2), 5, 10)) if harmonics is None else int(harmonics)
    if count < 2:
        raise ArgumentError(f"harmonics = {harmonics!r} must be at least 2")
    robot = replace(robot, floor=floor_under(robot, floor))
    search = _Search(robot, float(duration), count, criterion, scene, seed)
    x = search.run(iterations, progress)
    motion, certificate = search.certified(x, progress)
    found = search.judge(motion)
    return ExcitingMotion(motion, certificate, *found)


class _Search:
    """One search: the family of motions, what they tell, and what they must keep."""

    def __init__(
        self,
        robot: Robot,
        duration: float,
        harmonics: int,
        criterion: str,
        scene: Scene | None,
        seed: int,
    ):
        self.robot, self.scene, self.criterion = robot, scene, criterion
        self.family = Family(robot, duration, harmonics, SAMPLES_PER_PERIOD * harmonics)
        rng = np.random.default_rng(seed)
        self.starts = rng.normal(size=(STARTS, self.family.size))
        q, v, a = self.family.motion(self.starts)
        self.limit = torque_limits(robot)
        speeds = np.abs(v).max(axis=(0, 1))
        bare = Experiment(robot, speeds, np.ones(robot.n))
        self.experiment: Experiment = experiment(robot, speeds, bare.torque(q[0], v[0], a[0]))
        H = self.experiment.information(q, v, a)
        # parameters in units of their mean error after a random motion: no unit decides
        self.size = np.sqrt(np.mean(np.diagonal(H, axis1=1, axis2=2), axis=0))

    def scaled(self, information: np.ndarray) -> np.ndarray:
        return information / np.outer(self.size, self.size)

    def cost(self, x: np.ndarray) -> np.ndarray:
        """(B,) of motions x (B, size): − criterion + what is exceeded."""
        q, v, a = self.family.motion(x)
        values = np.linalg.eigvalsh(self.scaled(self.experiment.information(q, v, a)))
        logs = np.log(np.maximum(values, 1e-30))
        merit = (
            logs.mean(axis=1)
            if self.criterion == "D"
            else -logsumexp(-SHARP * logs, axis=1) / SHARP
        )
        return -merit + PENALTY * self.excess(q, v, a)

    def excess(
        self,
        q: np.ndarray,
        v: np.ndarray,
        a: np.ndarray,
        torque: float = KEPT_TORQUE,
        height: float = KEPT_HEIGHT,
    ) -> np.ndarray:
        """(B,) mean squares of exceeded torques (relative), and heights and distances (m).

        torque: part of the limits that is kept.  height: m above the floor and from obstacles."""
        n, total = self.robot.n, np.zeros(len(q))
        if np.any(np.isfinite(self.limit)):
            over = np.abs(self.experiment.torque(q, v, a)) / (torque * self.limit) - 1
            total += np.mean(np.maximum(over, 0) ** 2, axis=(1, 2))
        floor, flat = self.robot.floor, q.reshape(-1, n)
        if floor is not None:
            heights = (
                part_heights(self.robot, flat, floor.parts).reshape(*q.shape[:2], -1) - floor.height
            )
            total += np.mean(np.maximum(height - heights.min(axis=2), 0) ** 2, axis=1)
        if self.scene is not None:
            least = distance(self.robot, self.scene, flat).least.reshape(q.shape[:2])
            total += np.mean(np.maximum(height - least, 0) ** 2, axis=1)
        return total

    def run(self, iterations: int, progress: Callable[[str], None] | None) -> np.ndarray:
        """The best motion found from the best random one."""
        first = np.concatenate([self.cost(part) for part in np.array_split(self.starts, 4)])
        x = self.starts[int(np.argmin(first))]
        eye = STEP * np.eye(len(x))
        done = 0

        def cost_and_slope(y: np.ndarray) -> tuple[float, np.ndarray]:
            parts = np.array_split(np.vstack([y, y + eye]), max(1, len(y) // 24))
            values = np.concatenate([self.cost(part) for part in parts])
            return float(values[0]), (values[1:] - values[0]) / STEP

        def tell(_: np.ndarray) -> None:
            nonlocal done
            done += 1
            if progress is not None and done % 10 == 0:
                progress(f"exciting motion: iteration {done} of {iterations}")

        options = {"maxiter": iterations, "maxfun": 3 * iterations}
        found = minimize(
            cost_and_slope, x, jac=True, method="L-BFGS-B", callback=tell, options=options
        )
        return found.x if found.fun <= first.min() else x

    def trajectory(self, x: np.ndarray, part: float) -> Trajectory:
        """The motion with its amplitude multiplied by `part`, as knots."""
        family = self.family
        centre, gain, z = (item[0] for item in family.scaled(x))
        t = np.linspace(0.0, family.duration, KNOTS_PER_PERIOD * family.harmonics + 1)
        q, v, a = (part * gain * (table @ z.T) for table in family.series(t))
        middle = centre + gain * np.mean(family.series(t)[0] @ z.T, axis=0)
        q = q + middle + part * (centre - middle)
        return Trajectory(t, q, v, a, self.robot.joint_names)

    def certified(
        self, x: np.ndarray, progress: Callable[[str], None] | None
    ) -> tuple[Trajectory, Certificate]:
        """The largest of the motion's amplitudes, in steps, whose limits are proved."""
        part = 1.0
        for _ in range(MOST_SHRINKS):
            motion = self.trajectory(x, part)
            if self.is_free(motion):
                if progress is not None:
                    progress(f"exciting motion: certificate at {100 * part:.0f} % of the amplitude")
                proof = certify(self.robot, motion)
                if proof.ok:
                    return motion, proof
            part *= SHRINK
        worst = worst_margin(self.robot, motion)
        raise ArgumentError(
            f"no exciting motion of {self.family.duration:g} s keeps all limits; nearest: {worst}"
        )

    def is_free(self, motion: Trajectory) -> bool:
        """Whether limits at instants, and the scene at every instant, are kept."""
        worst = worst_margin(self.robot, motion)
        if worst is not None and worst.fraction < 0:
            return False
        return self.scene is None or clearance(self.robot, self.scene, motion).free

    def judge(self, motion: Trajectory) -> tuple[float, float, float]:
        """Condition number, the median of feasible random motions, and the ratio of standard errors
        to theirs."""
        t = np.linspace(motion.t[0], motion.t[-1], self.family.samples, endpoint=False)
        q, v, a = (np.asarray(x)[None] for x in motion(t))
        own = self.scaled(self.experiment.information(q, v, a))
        others = self.scaled(self.random_information())
        volume = lambda H: np.linalg.slogdet(H)[1] / H.shape[-1]
        ratio = float(np.exp((volume(own)[0] - np.median(volume(others))) / 2))
        return float(condition_numbers(own)[0]), float(np.median(condition_numbers(others))), ratio

    def random_information(self) -> np.ndarray:
        """(B, p, p) of the random motions, each as large as limits of torque, floor and scene
        allow; of all where none is feasible."""
        q, v, a = self.family.motion(self.starts)
        middle, part = q.mean(axis=1, keepdims=True), np.ones((len(q), 1, 1))
        at = lambda: (middle + part * (q - middle), part * v, part * a)
        for _ in range(MOST_SHRINKS):
            exceeded = self.excess(*at(), 1.0, 0.0) > 0
            if not exceeded.any():
                break
            part[exceeded] *= SHRINK
        kept = part[:, 0, 0] >= SMALLEST
        kept = kept if kept.any() else np.ones_like(kept)
        return self.experiment.information(*(x[kept] for x in at()))
