"""Speeds that keep their limits between knots too.

The acceleration runs straight in a step, so a speed is a spline of second degree, and lies between
its control points

    (U1)  c_k = v_k + h_k a_k / 2 = v_{k+1} − h_k a_{k+1} / 2

of which the speed at a knot is a mean, v_{k+1} = (h_{k+1} c_k + h_k c_{k+1}) / (h_k + h_{k+1}). So
limits of c_k, one for each step, are limits of the speed at every instant. With limits at knots
only, accelerations zigzag around the greatest speed at no cost."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.optimize.transcription.driven import Driven
from armature.optimize.transcription.transcribe import Accelerations, At, Shape

MOTOR_SPEED = "motor_speed"


@dataclass(frozen=True)
class Moving(Driven):
    """A robot whose joints and motors keep their greatest speeds inside steps too. For
    accelerations that run straight in a step."""

    @functools.cached_property
    def quantities(self) -> list[tuple[int, str, str, float, float]]:
        """What every drive limits at each instant, but for the speeds of motors."""
        return [row for row in super().quantities if row[1] != MOTOR_SPEED]

    @functools.cached_property
    def speeds(self) -> list[tuple[str, dict[int, float], float]]:
        """(name, {joint: factor}, bound) of sums of joints' speeds: of joints, and of motors that
        are the slower ones or move several."""
        train, names = self.robot.drivetrain, self.robot.joint_names
        found = {
            j: (f"velocity of {name}", {j: 1.0}, self.joint_limit(name, "velocity"))
            for j, name in enumerate(names)
        }
        if self.variable:
            return self._joint_speeds()
        coupled = []
        for axis, name, limit in train.limits():
            if limit.quantity != MOTOR_SPEED or limit.sign < 0:
                continue
            factors = {
                j: train.drives[axis].gear.ratio * share
                for j, share in enumerate(train.matrix[axis])
                if share
            }
            joint, row = next(iter(factors)), (f"{limit.name} of {name}", factors, limit.bound)
            if len(factors) > 1:
                coupled.append(row)
            elif limit.bound < abs(factors[joint]) * found[joint][2]:
                found[joint] = row
        return [row for row in (*found.values(), *coupled) if np.isfinite(row[2])]

    def _joint_speeds(self) -> list[tuple[str, dict[int, float], float]]:
        """The same with variable drives: rows of joints alone, infinite ones too, so that no other
        drive changes the model. A motor's limit is one of its joint."""
        train, names = self.robot.drivetrain, self.robot.joint_names
        most = np.array([self.joint_limit(name, "velocity") for name in names])
        for axis, _, limit in self.limits:
            if limit.quantity == MOTOR_SPEED:
                joint, ratio = train.matrix[axis].index(1.0), abs(train.drives[axis].gear.ratio)
                most[joint] = min(most[joint], limit.bound / ratio)
        return [(f"velocity of {name}", {j: 1.0}, most[j]) for j, name in enumerate(names)]

    @functools.cached_property
    def shape(self) -> Shape:
        """Sizes and names; the rows of speeds come last."""
        base = super().shape
        return replace(
            base, constraint_names=(*base.constraint_names, *(name for name, _, _ in self.speeds))
        )

    @functools.cached_property
    def transcription(self) -> Accelerations:
        """The functions of a step."""
        base = super().transcription
        return replace(base, between=self.between) if self.speeds else base

    def between(self, begin: At, end: At, h: Any) -> list[Any]:
        """Torque rates, and (U1)."""
        control = lambda factors: sum(
            factor * (begin.v[j] + h * begin.a[j] / 2) for j, factor in factors.items()
        )
        return [
            *self.rates_between(begin, end, h),
            *(control(factors) for _, factors, _ in self.speeds),
        ]

    def constraint_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the constraints of a step."""
        most = np.array([bound for _, _, bound in self.speeds])
        low, high = super().constraint_bounds()
        return np.concatenate([low, -most]), np.concatenate([high, most])

    def state_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the state at a knot inside the motion: those of speeds there follow from
        (U1)."""
        low, high = super().state_bounds()
        n = len(self.names)
        low[n : 2 * n], high[n : 2 * n] = -np.inf, np.inf
        return low, high
