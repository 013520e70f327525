"""What identification found: the robot, its parameters with standard errors, and how well it
predicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np

from armature.dynamics.forces.stand_in import with_stand_ins
from armature.identify.base import Base, base_columns, base_parameters
from armature.identify.delay import shifted
from armature.identify.estimate import Estimate
from armature.identify.friction import DRY
from armature.identify.layout import Layout
from armature.identify.recording import Recording
from armature.identify.rows import Data, collect
from armature.identify.supply import SupplyFit
from armature.robot.model import Robot
from armature.seam import worker
from armature.simulate.draws import ModelUncertainty

SINGULAR = 1e-14  # part of the largest eigenvalue of an information matrix that counts as zero
BADLY = 0.3  # relative standard error from which a parameter is badly known
FRICTIONS = {"viscous": ("viscous",), "coulomb": DRY, "load": ("load",), "spring": ("spring",)}
FRICTION_UNITS = {"viscous": "N·m·s/rad", "load": ""}


@dataclass(frozen=True)
class Parameter:
    """One identified number. name: in words; a combination of inertial parameters is named as a
    sum.

    value, standard_error: in `unit`.  prior: what the description says.
    """

    name: str
    value: float
    standard_error: float
    prior: float
    unit: str

    @property
    def is_badly_known(self) -> bool:
        """Whether its standard error is above 30 % of its value."""
        return self.standard_error > BADLY * abs(self.value)


@dataclass(frozen=True, eq=False)
class Identified:
    """An identified robot.

    robot: with identified inertias, rotor inertias, friction (viscous, Coulomb, load) and drives.
    gains: (n,) joint torque per measured unit: N·m/A for currents, 1 for torques.
    groups: of friction features that were taken.  trust: in the description, relative standard
    deviation.
    error, prior_error: {recording: (n,) r.m.s. error in % of the measured signal's spread}.
    held_out: names of the recordings that nothing was fitted to.  recordings: all of them.
    agreement: sentence on order, signs and units.  supply: fit of the supply's power, where it was
    recorded.
    delay: s by which currents or torques came after the positions; `recordings` hold them shifted.
    """

    robot: Robot
    prior_robot: Robot
    estimate: Estimate
    layout: Layout
    prior_phi: np.ndarray
    gains: np.ndarray
    cutoff: float
    groups: tuple[str, ...]
    trust: float
    error: dict[str, np.ndarray]
    prior_error: dict[str, np.ndarray]
    held_out: tuple[str, ...]
    recordings: tuple[Recording, ...]
    agreement: str
    supply: SupplyFit | None
    delay: float

    def predict(self, recording: Recording) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """t (N,), predicted and measured signals (N, n), filtered alike; A or N·m. The delay is
        taken out."""
        phi = self.estimate.phi
        own = recording if recording in self.recordings else shifted(recording, self.delay)
        data = collect(self.layout, [own], self.cutoff, phi[: self.layout.inertial])
        return data.t, data.predicted(phi, self.gains), data.measured

    @cached_property
    def base(self) -> Base:
        """Which combinations of inertial parameters the torques depend on."""
        return base_parameters(self.prior_robot)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Base parameters, then friction and gains, each with its standard error."""
        places, found, base = self.layout, self.estimate, self.base
        where = base_columns(places)
        values, priors = base.matrix @ found.phi[where], base.matrix @ self.prior_phi[where]
        cov = found.covariance[np.ix_(where, where)]
        errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", base.matrix, cov, base.matrix), 0.0))
        rows = [
            Parameter(
                base.formula(k), float(values[k]), float(errors[k]), float(priors[k]), base.unit(k)
            )
            for k in range(len(values))
        ]
        return (*rows, *self._friction_parameters(), *self._gain_parameters())

    def _friction_parameters(self) -> list[Parameter]:
        """Of every axis: viscous, dry (the sum of all features that level off), load, springs;
        offsets are base parameters."""
        places, found = self.layout, self.estimate
        rows = []
        for axis, name in enumerate(places.axis_names):
            for words, groups in FRICTIONS.items():
                where = [k for k in places.of(axis, *groups) if found.kept[k]]
                for own in [where] if groups == DRY else [[k] for k in where]:
                    value, before = float(found.phi[own].sum()), float(self.prior_phi[own].sum())
                    error = float(np.sqrt(max(found.covariance[np.ix_(own, own)].sum(), 0.0)))
                    if own:
                        rows.append(
                            Parameter(
                                f"{name}.{words}",
                                value,
                                error,
                                before,
                                FRICTION_UNITS.get(words, "N·m"),
                            )
                        )
        return rows

    def _gain_parameters(self) -> list[Parameter]:
        n, p = len(self.gains), self.layout.size
        errors = np.sqrt(np.maximum(np.diag(self.estimate.covariance)[p : p + n], 0.0))
        names = self.prior_robot.joint_names
        return [
            Parameter(
                f"{names[k]}.gain",
                float(self.gains[k]),
                float(self.gains[k] * errors[k]),
                float(self.estimate.prior_gains[k]),
                "N·m/A",
            )
            for k in range(n)
            if errors[k] > 0
        ]

    @cached_property
    def condition(self) -> float:
        """Condition number of what the recordings tell of the base parameters, columns scaled to 1,
        friction left free."""
        # W π = W₁ β: the columns of the parameters that combinations are named after
        shared = base_columns(self.layout)  # rotors and offsets among them
        own = shared[list(self.base.pivots)]
        rest = np.setdiff1d(np.flatnonzero(self.estimate.kept), shared)
        H = self.estimate.information
        cross = H[np.ix_(own, rest)]
        H = (
            H[np.ix_(own, own)]
            - cross @ np.linalg.pinv(H[np.ix_(rest, rest)], hermitian=True) @ cross.T
        )
        size = np.sqrt(np.maximum(np.diag(H), 1e-300))
        values = np.linalg.eigvalsh(H / np.outer(size, size))
        return (
            float(np.sqrt(values[-1] / values[0]))
            if values[0] > SINGULAR * values[-1]
            else float("inf")
        )

    @cached_property
    def uncertainty(self) -> ModelUncertainty:
        """Covariance of bodies, rotors and friction, for `rehearse`."""
        places, found = self.layout, self.estimate
        spread = np.sqrt(np.maximum(np.diag(found.covariance), 0.0))
        total, part = [], []
        for axis in range(places.robot.n):
            where = places.of(axis, "viscous", "coulomb", "hysteresis", "speeds")
            total.append(abs(float(np.sum(found.phi[where]))))
            part.append(float(np.sqrt(np.sum(spread[where] ** 2))))
        relative = np.array(part) / np.maximum(total, 1e-9)
        return ModelUncertainty(self._inertial_covariance(), np.minimum(relative, 0.9))

    def _inertial_covariance(self) -> np.ndarray:
        """(10 nb, 10 nb) of bodies that differ as the base parameters do: what is open within a
        combination, or between a body and its rotor, moves no torque and must not be drawn."""
        base, where, inertial = self.base, base_columns(self.layout), self.layout.inertial
        rows = [
            k for k, pivot in enumerate(base.pivots) if not base.labels[pivot].endswith(".offset")
        ]
        C = base.matrix[rows]
        A = np.linalg.pinv(C[:, :inertial], rcond=1e-9) @ C
        return A @ self.estimate.covariance[np.ix_(where, where)] @ A.T

    def with_stand_ins(self) -> Identified:
        """With stand-in motors of about the right size where no drives are known, so that the robot
        plans at once: energies are the stand-ins'."""
        return replace(self, robot=with_stand_ins(self.robot))

    def save(self, path: str | PathLike[str]) -> tuple[Path, ...]:
        """Write `path`.yaml (the robot, drives inside), `path`_drives.yaml (the drives alone, where
        there are any) and
        `path`.html (the page). Returns the files."""
        return worker("Identified.save")(self, path)

    def report(self, path: str | PathLike[str]) -> Path:
        """Write a page (.html): measured against predicted, residuals, what is well and what badly
        known."""
        return worker("Identified.report")(self, path)

    def __str__(self) -> str:
        base, known = self.base, [p for p in self.parameters if not p.is_badly_known]
        lines = [f"identified {self.robot.name}: {self.agreement}"]
        lines.append(
            f"{len(base.pivots)} combinations of {len(base.labels)} inertial parameters, rotors and"
            f" offsets can be seen; {len(known)} of {len(self.parameters)} parameters are known to"
            f" better than {BADLY:.0%}; condition number {condition_words(self.condition)}"
        )
        late = (
            f"; currents or torques {1e3 * self.delay:.1f} ms after the positions"
            if self.delay
            else ""
        )
        lines.append(
            f"friction: {', '.join(self.groups)}; trust in the description {self.trust:g}{late}"
        )
        lines.append("r.m.s. error in % of each joint's spread, description → identified:")
        for name, error in self.error.items():
            kind = "held out" if name in self.held_out else "fitted"
            pairs = zip(self.prior_error[name], error)
            cells = "  ".join(f"{a:.0f} → {b:.1f}" for a, b in pairs)
            lines.append(f"  {name} ({kind}): {cells}")
        if self.robot.model_error is not None:
            lines.append(f"{self.robot.model_error}")
        if self.supply is not None:
            lines.append(str(self.supply))
        return "\n".join(lines)


def condition_words(condition: float) -> str:
    """A condition number in words."""
    return (
        f"{condition:.3g}" if np.isfinite(condition) else "∞ (the motion leaves some of them open)"
    )


def percent(data: Data, phi: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """(n,) r.m.s. error in % of the measured spread."""
    y = data.measured
    rms = np.sqrt(np.mean((data.predicted(phi, gains) - y) ** 2, axis=0))
    return 100.0 * rms / np.maximum(np.std(y, axis=0), 1e-12)
