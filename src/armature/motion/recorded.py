"""Recorded and taught motions from CSV files of other programs: any separator, headers and units of
many kinds, noise."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from armature.errors import ArgumentError, ArmatureWarning, FileError
from armature.motion.columns import check_range
from armature.motion.table import (
    LONGEST_CELL,
    MOST_COLUMNS,
    Rows,
    line_blocks,
    number_in,
    sorted_out,
)
from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot

TIMES = {
    "t",
    "time",
    "times",
    "timestamp",
    "stamp",
    "sec",
    "secs",
    "second",
    "seconds",
    "time_from_start",
    "elapsed",
}
POSITION = {
    "q",
    "pos",
    "position",
    "positions",
    "actual",
    "measured",
    "angle",
    "joint",
    "joints",
    "axis",
    "state",
    "states",
    "data",
}
OTHER = {
    "v",
    "vel",
    "velocity",
    "velocities",
    "qd",
    "dq",
    "speed",
    "a",
    "acc",
    "acceleration",
    "accelerations",
    "qdd",
    "ddq",
    "tau",
    "torque",
    "torques",
    "effort",
    "efforts",
    "force",
    "current",
    "currents",
    "i",
    "voltage",
    "power",
    "temperature",
    "target",
    "command",
    "error",
}
UNITS = {
    "s": 1.0,
    "sec": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "ns": 1e-9,
    "rad": 1.0,
    "deg": np.pi / 180,
    "degree": np.pi / 180,
    "degrees": np.pi / 180,
    "°": np.pi / 180,
    "m": 1.0,
    "mm": 1e-3,
    "cm": 1e-2,
    "rev": 2 * np.pi,
}
BRACKET = re.compile(r"^(.*?)\s*[\[({]\s*([^\])}]*?)\s*[\])}]\s*$")
TAIL = re.compile(r"^(.+)[_.](s|sec|ms|us|ns|rad|deg|mm|cm)$")
MOST_KNOTS = 5000
SPACING = 0.01  # s between knots of a long recording
CLEAN = 1e-6  # noise, as a fraction of a joint's range, below which samples are passed exactly
TRIMMED = 0.871  # standard deviation of a normal variable without its largest twentieth
SAFE = 1.4  # the estimate's own error must not let the noise in
SHORT = 2000  # samples of which a smoothing spline chooses its own knots
MOST_SAMPLES = 10_000  # longer recordings are thinned, with what is averaged out of their noise
TAUGHT = 8  # so few points are passed exactly


@dataclass(frozen=True)
class Column:
    """A column of the file. name: without its unit.  scale: to SI.  words: the name in lower case,
    cut into words and numbers."""

    name: str
    scale: float | None
    words: tuple[str, ...]


def load_recorded(
    path: str | PathLike[str],
    robot: Robot | None = None,
    unit: str | None = None,
    noise: float | None = None,
) -> Trajectory:
    """A motion from a CSV file of a recorder, a controller or a teach pendant; the times begin with
    0.

    The file has a column of times and one of positions for each joint, by name (`pan`, `q.pan`,
    `/joint_states/pan/position`) or number (`joint_1`, `q0`, `A1`), with units in the header
    (`[deg]`, `(mm)`, `_ms`; SI without); commas, semicolons or tabs. Other columns are left out.
    Lines out of order are sorted, repeated times dropped: an ArmatureWarning tells it.
    robot: whose joints to look for; all columns are taken without one.  unit: of positions whose
    header has none: "rad", "deg", "m", "mm".
    noise: standard deviation of the positions, rad or m: 0 passes through every sample; by default
    it is estimated from the data (`estimated_noise`), and up to 8 taught points are passed exactly,
    from rest to rest."""
    if unit is not None and unit not in UNITS:
        raise ArgumentError(f"unit = {unit!r} is not known; use rad, deg, m or mm")
    columns, rows, lines = _cells(path, robot)
    at = _time_column(columns, path)
    chosen, names = _joint_columns(columns, at, robot, path)
    scales = [_scale(columns[k], unit, robot, name) for k, name in zip(chosen, names)]
    t = rows[:, at] * (columns[at].scale or 1.0)
    t, q = _in_order(t, rows[:, chosen] * scales, lines, path)
    try:
        check_range(t, {"q": q})
    except ArgumentError as e:
        raise FileError(str(e), path) from None
    _no_degrees(q, [columns[k] for k in chosen], names, robot, unit, path)
    return _smooth(t - t[0], q, names, noise, path)


# text to numbers ---------------------------------------------------------------------------------


def _cells(
    path: str | PathLike[str], robot: Robot | None
) -> tuple[list[Column], np.ndarray, np.ndarray]:
    """Columns, numbers (rows, columns), and the lines they came from."""
    rows = comma = cut = None
    for first, block in line_blocks(path):
        lines, numbers, _ = sorted_out(first, block)
        if rows is None and lines:
            mark = next((m for m in (";", "\t", ",") if m in lines[0]), None)
            comma, ends = (
                mark == ";",
                any(text.rstrip(" ").endswith(mark or "\n") for text in lines[:2]),
            )
            cut = lambda text, mark=mark: (
                text.rstrip().rstrip(mark).split(mark) if mark else text.split()
            )
            header, named = _header(cut(lines[0]), comma, robot, path, int(numbers[0]))
            rows = Rows(
                header,
                mark,
                lambda t, n, f=(header, cut, comma): _values(f[1](t), f[0], f[2], path, n),
                path,
            )
            lines, numbers = (lines[1:], numbers[1:]) if named else (lines, numbers)
        if rows is not None:
            lines = [text.replace(",", ".") for text in lines] if comma else lines
            lines = (
                [text.rstrip().rstrip(rows.mark) for text in lines] if rows.mark and ends else lines
            )
            rows.add(lines, numbers)
    if rows is None:
        raise FileError(
            "the file holds no numbers; its first line names the columns, the others hold one"
            " instant each",
            path,
            1,
        )
    return [_column(name) for name in rows.names], rows.values(), rows.lines()


def _header(
    cells: list[str], comma: bool, robot: Robot | None, path: object, line: int
) -> tuple[list[str], bool]:
    """The names of the columns, and whether the first line holds them."""
    names = [c.strip().strip('"').strip() for c in cells]
    if len(names) > MOST_COLUMNS or any(len(name) > LONGEST_CELL for name in names):
        raise FileError(
            f"the first line has {len(names)} columns, or a very long name; is this a recording?",
            path,
            line,
        )
    if all(_number(c, comma) is not None for c in names):
        return _without_header(len(names), robot, path), False
    return names, True


def _values(
    cells: list[str], header: list[str], comma: bool, path: object, line: int
) -> list[float]:
    """The numbers of one line."""
    if len(cells) != len(header):
        raise FileError(
            f"the line has {len(cells)} values, the header names {len(header)} columns; correct the"
            " line",
            path,
            line,
        )
    values = [_number(c, comma) for c in cells]
    bad = [name for name, x in zip(header, values) if x is None]
    if bad:
        raise FileError(
            f"column {bad[0]!r} holds something that is not a finite number; correct or remove the"
            " line",
            path,
            line,
        )
    return values  # type: ignore[return-value]  (none of them is None)


def _number(text: str, comma: bool) -> float | None:
    text = text.strip().strip('"')
    x = number_in(text.replace(",", ".") if comma else text)
    return x if x is not None and np.isfinite(x) else None


def _without_header(count: int, robot: Robot | None, path: object) -> list[str]:
    """Names for a file of bare numbers: time, then the robot's joints."""
    if robot is None or count != robot.n + 1:
        need = (
            "the robot"
            if robot is None
            else f"1 + {robot.n} columns: time and {', '.join(robot.joint_names)}"
        )
        raise FileError(
            f"there is no header line and {count} columns; add a header with names, or give {need}",
            path,
            1,
        )
    warnings.warn(
        f"{path}: no header; taken as time, {', '.join(robot.joint_names)}",
        ArmatureWarning,
        stacklevel=4,
    )
    return ["time", *robot.joint_names]


def _column(header: str) -> Column:
    """A header as name, unit and words; an unknown unit in brackets belongs to the name."""
    name, scale = header, None
    for pattern in (BRACKET, TAIL):
        found = pattern.match(header)
        if found and found[2].lower() in UNITS:
            name, scale = found[1], UNITS[found[2].lower()]
            break
    return Column(name, scale, _words(name))


def _words(name: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^\W\d_]+|\d+", name.lower()))


# columns to joints -------------------------------------------------------------------------------


def _time_column(columns: list[Column], path: object) -> int:
    found = [k for k, c in enumerate(columns) if "_".join(c.words) in TIMES]
    found = found or [k for k, c in enumerate(columns) if c.words and c.words[-1] in TIMES]
    if not found:
        raise FileError(
            f"no column of times among {', '.join(c.name for c in columns)}; call one 'time'",
            path,
            1,
        )
    return found[0]


def _joint_columns(
    columns: list[Column], at: int, robot: Robot | None, path: object
) -> tuple[list[int], tuple[str, ...]]:
    """Indices of the positions' columns in the robot's order, and the joints' names."""
    others = [k for k in range(len(columns)) if k != at]
    if robot is None:
        kept = [k for k in others if not set(columns[k].words) & OTHER] or others
        return kept, tuple(_bare(columns[k]) for k in kept)
    by_name = [
        next((k for k in others if _is_joint(columns[k], name)), None) for name in robot.joint_names
    ]
    if None not in by_name:
        return [k for k in by_name if k is not None], robot.joint_names
    numbered = sorted((number, k) for k in others if (number := _ordinal(columns[k])) is not None)
    if len(numbered) == robot.n and len({number for number, _ in numbered}) == robot.n:
        return [k for _, k in numbered], robot.joint_names
    missing = [name for name, k in zip(robot.joint_names, by_name) if k is None]
    raise FileError(
        f"no column for joint {missing[0]!r} among {', '.join(columns[k].name for k in others)}; "
        f"name the columns {', '.join(robot.joint_names)} or joint_1 … joint_{robot.n}",
        path,
        1,
    )


def _is_joint(column: Column, name: str) -> bool:
    """Whether a column is the position of this joint: its name, alone or among words that say
    "position"."""
    words, wanted = column.words, _words(name)
    if words == wanted or column.name == name:
        return True
    for k in range(len(words) - len(wanted) + 1):
        if words[k : k + len(wanted)] == wanted:
            rest = set(words[:k] + words[k + len(wanted) :])
            return bool(rest) and rest <= POSITION
    return False


def _ordinal(column: Column) -> int | None:
    """The number in joint_3, q3, j3, A3, axis 3, actual_q_3; None for other columns."""
    numbers = [int(w) for w in column.words if w.isdigit()]
    letters = {w for w in column.words if not w.isdigit()} - POSITION - {"j", "jnt", "ax", "theta"}
    return (
        numbers[-1]
        if len(numbers) == 1 and (not letters or (letters == {"a"} and len(column.words) == 2))
        else None
    )


def _bare(column: Column) -> str:
    """A joint's name from its column: q.pan → pan."""
    return re.sub(r"^(q|pos|position|positions)[.]", "", column.name)


def _scale(column: Column, unit: str | None, robot: Robot | None, name: str) -> float:
    if column.scale is not None:
        return column.scale
    slides = robot is not None and robot.joint(name).kind == "prismatic"
    angular = unit in ("deg", "degree", "degrees", "°", "rad", "rev")
    return (
        1.0
        if unit is None
        or (slides and angular)
        or (robot is not None and not slides and not angular)
        else UNITS[unit]
    )


# order and smoothness ----------------------------------------------------------------------------


def _in_order(
    t: np.ndarray, q: np.ndarray, lines: np.ndarray, path: object
) -> tuple[np.ndarray, np.ndarray]:
    """Rows by rising time, each time once; what was changed is told."""
    place = Path(fspath(path)).name  # type: ignore[arg-type]
    back = np.flatnonzero(np.diff(t) < 0)
    if len(back):
        text = (
            f"{place}:{lines[int(back[0]) + 1]}: {len(back)} lines are earlier than the one before;"
            " the lines were sorted by time"
        )
        warnings.warn(text, ArmatureWarning, stacklevel=3)
    t, first = np.unique(t, return_index=True)
    if len(first) < len(q):
        repeated = int(np.setdiff1d(np.arange(len(q)), first)[0])
        text = (
            f"{place}:{lines[repeated]}: {len(q) - len(first)} lines repeat a time; the first of"
            " each was kept"
        )
        warnings.warn(text, ArmatureWarning, stacklevel=3)
    if len(t) < 2:
        raise FileError(f"the file has {len(t)} instants; a motion needs at least two", path)
    return t, q[first]


def _no_degrees(
    q: np.ndarray,
    columns: list[Column],
    names: tuple[str, ...],
    robot: Robot | None,
    unit: str | None,
    path: object,
) -> None:
    """Refuse angles without a unit that are far beyond a joint's range: they are degrees."""
    for k, (column, name) in enumerate(zip(columns, names)):
        if (
            robot is None
            or unit is not None
            or column.scale is not None
            or robot.joint(name).kind == "prismatic"
        ):
            continue
        limit, largest = robot.joint(name).limits, float(np.abs(q[:, k]).max())
        reach = max(abs(limit.lower), abs(limit.upper))
        if largest > max(3 * reach if np.isfinite(reach) else 30.0, 10.0):
            raise FileError(
                f"joint {name!r} reaches {largest:.4g}, far beyond its range in rad; if these are"
                f" degrees, write '{column.name} [deg]' in the header or give unit='deg'",
                path,
                1,
            )


def _smooth(
    t: np.ndarray, q: np.ndarray, names: tuple[str, ...], noise: float | None, path: object
) -> Trajectory:
    """A twice differentiable motion through or near the samples."""
    if noise is not None and not (np.isfinite(noise) and noise >= 0):
        raise ArgumentError(f"noise = {noise} must be a number ≥ 0, in rad or m")
    with np.errstate(all="ignore"):  # what overflows is refused below
        try:
            curves = [_curve(t, column, noise) for column in q.T]
        except (ValueError, np.linalg.LinAlgError) as e:
            raise FileError(
                f"no smooth motion can be found through the samples ({e}); check times and their"
                " unit",
                path,
            ) from None
    knots = _knots(t)
    value = lambda order: np.column_stack(
        [c.derivative(order)(knots) if order else c(knots) for c in curves]
    )
    with np.errstate(all="ignore"):  # what overflows is refused here
        q, v, a = (value(order) for order in range(3))
    if not (np.all(np.isfinite(v)) and np.all(np.isfinite(a))):
        raise FileError(
            "the times are too near to each other for velocities to be finite; check their unit",
            path,
        )
    return Trajectory(knots, q, v, a, names)


def _curve(t: np.ndarray, x: np.ndarray, noise: float | None) -> Any:
    """A spline through the samples of one joint, or as smooth a one as stays within the noise: Σ (x
    − curve)² ≤ N σ²."""
    from scipy.interpolate import CubicSpline, UnivariateSpline

    if len(t) <= TAUGHT:
        return CubicSpline(t, x, bc_type="clamped")
    sigma = estimated_noise(t, x) if noise is None else noise
    if sigma <= CLEAN * float(np.ptp(x)):
        return CubicSpline(t, x)
    if len(t) <= SHORT:
        return UnivariateSpline(t, x, k=5, s=SAFE * len(t) * sigma**2)
    group = len(t) // MOST_SAMPLES
    if group >= 5:
        t, x = _thinned(t, x, group)
        sigma *= 1.5 / np.sqrt(group)  # of a parabola's middle value
    return _least_squares(t, x, sigma)


def _thinned(t: np.ndarray, x: np.ndarray, group: int) -> tuple[np.ndarray, np.ndarray]:
    """Groups of samples by one each: the value at their mean time of the parabola that fits them
    best. The ends stay as they are."""
    count = len(t) // group
    times, values = (
        t[: count * group].reshape(count, group),
        x[: count * group].reshape(count, group),
    )
    centre = times.mean(axis=1)
    u = (times - centre[:, None]) / np.ptp(times, axis=1)[:, None]
    powers = np.stack([np.ones_like(u), u, u * u])  # normal equations of each group
    left = np.einsum("ijk,ljk->jil", powers, powers)
    right = np.einsum("ijk,jk->ji", powers, values - values.mean(axis=1)[:, None])
    middle = values.mean(axis=1) + np.linalg.solve(left, right[:, :, None])[:, 0, 0]
    return np.concatenate([t[:1], centre, t[-1:]]), np.concatenate([x[:1], middle, x[-1:]])


def _least_squares(t: np.ndarray, x: np.ndarray, sigma: float) -> Any:
    """The quintic spline of fewest knots, twice as many each time, that stays within the noise (rad
    or m); knots lie where samples do."""
    from scipy.interpolate import make_lsq_spline

    step = len(t) // 64
    while True:
        inner = t[step:-step:step]
        curve = make_lsq_spline(
            t, x, np.concatenate([np.repeat(t[0], 6), inner, np.repeat(t[-1], 6)]), 5
        )
        if step <= 2 or float(np.mean((curve(t) - x) ** 2)) <= SAFE * sigma**2:
            return curve
        step //= 2


def estimated_noise(t: np.ndarray, x: np.ndarray) -> float:
    """Standard deviation of white noise on samples x (N,) at times t (N,), N ≥ 5: of what a cubic
    through each sample's four neighbours misses, without the largest twentieth, where the motion
    itself bends."""
    near = [slice(0, -4), slice(1, -3), slice(3, -1), slice(4, None)]
    here, times = t[2:-2], [t[k] for k in near]
    # Lagrange's weights of the neighbours; the miss has the variance σ² (1 + Σ w²)
    weights = [
        np.prod([(here - b) / (a - b) for j, b in enumerate(times) if j != i], axis=0)
        for i, a in enumerate(times)
    ]
    miss = x[2:-2] - sum(w * x[k] for w, k in zip(weights, near))
    square = np.sort(miss**2 / (1 + sum(w * w for w in weights)))
    return float(np.sqrt(np.mean(square[: max(1, int(0.95 * len(square)))]))) / TRIMMED


def _knots(t: np.ndarray) -> np.ndarray:
    """The samples' times; equal steps instead where there are very many."""
    count = int(np.clip(np.ceil((t[-1] - t[0]) / SPACING), 500, MOST_KNOTS))
    return t if len(t) <= count + 1 else np.linspace(t[0], t[-1], count + 1)
