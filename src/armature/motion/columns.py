"""A motion as a table or as a mapping of arrays: what all file formats share."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import Any

import numpy as np

from armature.errors import ArgumentError, FileError
from armature.motion.trajectory import INTERPOLATIONS, Trajectory

KINDS = ("q", "v", "a", "tau", "current", "voltage", "power")
UNITS = {
    "t": "s",
    "q": "rad or m",
    "v": "rad/s or m/s",
    "a": "rad/s² or m/s²",
    "tau": "N·m or N",
    "current": "A",
    "voltage": "V",
    "power": "W",
}
LARGEST = {
    "t": 1e19,
    "duration": 1e8,
}  # s: stamps in nanoseconds are the largest in use, three years the longest motion
LARGEST_VALUE = 1e15  # of anything else, in its unit
VERSION = metadata.version("armature")
MARK = "armature trajectory"


def _names(trajectory: Trajectory, kind: str) -> list[str]:
    """Names of the columns of one kind: the joints', or numbers where there are more or fewer
    columns than joints."""
    width = getattr(trajectory, kind).shape[1]
    names = (
        trajectory.joint_names
        if len(trajectory.joint_names) == width
        else tuple(map(str, range(width)))
    )
    return [f"{kind}.{name}" for name in names]


def columns(trajectory: Trajectory) -> tuple[list[str], np.ndarray]:
    """All that a trajectory holds as one table: t, q.joint, …, v.joint, …."""
    kinds = [k for k in KINDS if getattr(trajectory, k) is not None]
    names = ["t", *(name for k in kinds for name in _names(trajectory, k))]
    return names, np.column_stack([trajectory.t, *(getattr(trajectory, k) for k in kinds)])


def from_columns(
    names: list[str],
    values: np.ndarray,
    about: dict[str, Any],
    path: object,
    line: int | None = None,
) -> Trajectory:
    """The trajectory of a table; columns that are not known are refused."""
    if "t" not in names:
        raise FileError("there is no column 't' (times in s); add it", path, line)
    groups: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        kind = name.partition(".")[0]
        if name != "t" and (kind not in KINDS or "." not in name):
            raise FileError(
                f"column {name!r} is not known; use t, q.<joint>, v.<joint>, a.<joint>,"
                " tau.<joint>, …",
                path,
                line,
            )
        groups.setdefault(kind, []).append(i)
    if "q" not in groups:
        raise FileError(
            "there is no column 'q.<joint>' (positions); add one for each joint", path, line
        )
    joints = tuple(names[i].partition(".")[2] for i in groups["q"])
    arrays = {k: values[:, groups[k]] for k in KINDS if k in groups}
    return completed(
        values[:, names.index("t")],
        arrays,
        about.get("joint_names", joints),
        about.get("interpolation", "hermite"),
    )


def completed(
    t: np.ndarray, arrays: dict[str, np.ndarray], names: Any, interpolation: str
) -> Trajectory:
    """Missing velocities and accelerations by a cubic spline through the positions; an
    ArgumentError for times and values out of range."""
    check_range(t, arrays)
    if "v" not in arrays or "a" not in arrays:
        if len(t) < 2 or np.any(np.diff(t) <= 0):
            raise ArgumentError(
                "times must be one increasing sequence of at least two numbers to derive velocities"
            )
        if "v" in arrays:
            arrays = {**arrays, "a": _rates(t, arrays["v"], "not-a-knot", 1)[0]}
        else:
            v, a = _rates(t, arrays["q"], "clamped" if len(t) < 4 else "not-a-knot", 2)
            arrays = {**arrays, "v": v, "a": a}
        check_range(t, arrays)
    return Trajectory(t, joint_names=tuple(names), interpolation=interpolation, **arrays)


def check_range(t: np.ndarray, arrays: Mapping[str, np.ndarray]) -> None:
    """Refuse times and values that no motion has: a loop over them would not end, their squares are
    not finite."""
    times = [
        float(np.max(np.abs(t), initial=0.0)),
        float(np.ptp(t)) if np.ndim(t) == 1 and len(t) else 0.0,
    ]
    for value, (name, most) in zip(times, LARGEST.items()):
        if not value <= most:
            raise ArgumentError(
                f"the times reach a {name} of {value:.3g} s; at most {most:.0e} s are taken: check"
                " their unit"
            )
    for name, x in arrays.items():
        if (
            np.size(x)
            and float(np.nanmax(np.abs(np.where(np.isfinite(x), x, 0.0)))) > LARGEST_VALUE
        ):
            raise ArgumentError(
                f"{name!r} reaches values beyond {LARGEST_VALUE:.0e}; check units, and times that"
                " are too near"
            )


def _rates(t: np.ndarray, x: np.ndarray, ends: str, orders: int) -> list[np.ndarray]:
    """Derivatives of cubic splines through the columns of x, one column at a time to save
    memory."""
    from scipy.interpolate import CubicSpline

    with np.errstate(all="ignore"):  # what overflows is refused here
        try:
            curves = [CubicSpline(t, column, bc_type=ends) for column in np.atleast_2d(x.T)]
            found = [np.column_stack([c(t, k + 1) for c in curves]) for k in range(orders)]
        except (ValueError, np.linalg.LinAlgError) as e:
            raise ArgumentError(
                f"no velocities can be found from the positions ({e}); check times and their unit"
            ) from None
    if not all(np.all(np.isfinite(rate)) for rate in found):
        raise ArgumentError(
            "the times are too near to each other for velocities to be finite; check their unit"
        )
    return found


def describe(trajectory: Trajectory, provenance: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a file says about itself: format, units, joints, how the motion runs between knots, and
    where it comes from."""
    present = [k for k in ("t", *KINDS) if getattr(trajectory, k) is not None]
    return {
        "format": MARK,
        "version": 1,
        "armature": VERSION,
        "interpolation": trajectory.interpolation,
        "joint_names": list(trajectory.joint_names),
        "units": {k: UNITS[k] for k in present},
        **({} if provenance is None else {"provenance": dict(provenance)}),
    }


def arrays_of(trajectory: Trajectory) -> dict[str, np.ndarray]:
    """t, q, v, a and what else is known, by name."""
    return {k: getattr(trajectory, k) for k in ("t", *KINDS) if getattr(trajectory, k) is not None}


def to_mapping(trajectory: Trajectory) -> dict[str, Any]:
    """A trajectory as a mapping of words and arrays, which `from_mapping` reads."""
    return {**describe(trajectory), **arrays_of(trajectory)}


def from_mapping(data: Any, path: object, finite: bool = True) -> Trajectory:
    """The trajectory of a mapping; `path` is for messages. finite: refuse numbers that are not."""
    known = checked(data, path)
    return from_arrays(known, {k: data[k] for k in ("t", *KINDS) if k in data}, path, finite)


def checked(about: Any, path: object, line: int | None = None) -> dict[str, Any]:
    """What a file says about itself, or a FileError."""
    if isinstance(about, dict) and about.get("format") == "armature plan":
        raise FileError(
            "this is a whole plan; read it by load_plan(path), its motion is .trajectory",
            path,
            line,
        )
    if not isinstance(about, dict) or about.get("format") != MARK:
        raise FileError(f"this is not an {MARK}; check the file", path, line)
    if about.get("interpolation") not in INTERPOLATIONS:
        raise FileError(
            f"interpolation {about.get('interpolation')!r} is not known; use one of"
            f" {', '.join(INTERPOLATIONS)}",
            path,
            line,
        )
    names = about.get("joint_names")
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise FileError("joint_names must be a list of names; correct it", path, line)
    return about


def from_arrays(
    about: dict[str, Any], data: dict[str, Any], path: object, finite: bool = True
) -> Trajectory:
    """The trajectory of arrays by their names; a FileError names the one that is wrong."""
    arrays = {}
    for k, value in data.items():
        try:
            arrays[k] = np.asarray(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise FileError(
                f"{k!r} is not an array of numbers; every row must have the same length", path
            ) from None
        if (finite or k == "t") and not np.all(np.isfinite(arrays[k])):
            raise FileError(f"{k!r} holds a number that is not finite; correct it", path)
    for k in ("t", "q"):
        if k not in arrays:
            raise FileError(f"there is no {k!r}; a trajectory needs times and positions", path)
    t = arrays.pop("t")
    return completed(t, arrays, about["joint_names"], about["interpolation"])
