"""Paths against their geometry; every derivative against differences of the one before."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from armature.errors import ArgumentError, FileError
from armature.motion.path import Path
from armature.motion.rotation import exp, from_quaternion, log, to_quaternion
from armature.motion.shapes import arc, circle, joint_path, line, polyline, screw, spline

RNG = np.random.default_rng(4)
POSES = [(Rotation.random(random_state=k).as_matrix(), RNG.normal(size=3)) for k in range(5)]
POINTS = [p for _, p in POSES]
CENTRE, NORMAL = np.array([0.2, -0.1, 0.4]), np.array([1.0, 2.0, -0.5])

PATHS = {
    "line of points": line(POINTS[0], POINTS[1]),
    "line of poses": line(POSES[0], POSES[1]),
    "turn in place": line((POSES[0][0], POINTS[0]), (POSES[1][0], POINTS[0])),
    "circle": circle(POINTS[0], CENTRE, NORMAL),
    "circle turning": circle(POSES[0], CENTRE, NORMAL, -2.0, turning=True),
    "arc": arc(POSES[0], POINTS[1], POSES[2]),
    "screw": screw(POSES[0], CENTRE, NORMAL, 5.0, 0.3),
    "polyline": polyline(POSES, blend=0.4),
    "polyline of points": polyline(POINTS, blend=0.1),
    "spline": spline(POSES),
    "closed spline": spline(POINTS, closed=True),
    "backwards": polyline(POSES, blend=0.3).reversed(),
}


@pytest.fixture(params=PATHS)
def path(request) -> Path:
    return PATHS[request.param]


def inner(path: Path, h: float) -> np.ndarray:
    """Places not nearer than h to any joint between pieces."""
    p = np.linspace(2 * h, 1 - 2 * h, 301)
    return p[np.abs(p[:, None] - path.breaks).min(1) > 2 * h]


def test_each_derivative_is_that_of_the_one_before(path: Path):
    h = 1e-5
    p = inner(path, h)
    low, at, high = path(p - h), path(p), path(p + h)
    slope = lambda name: (getattr(high, name) - getattr(low, name)) / (2 * h)
    for name, derivative in (("x", at.dx), ("dx", at.ddx), ("ddx", at.dddx)):
        np.testing.assert_allclose(derivative, slope(name), atol=3e-5 * (1 + np.abs(at.dddx).max()))
    if at.R is not None:
        W = slope("R") @ at.R.transpose(0, 2, 1)
        scale = 3e-5 * (1 + np.abs(at.ddw).max())
        np.testing.assert_allclose(
            at.w, np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], -1), atol=scale
        )
        np.testing.assert_allclose(at.dw, slope("w"), atol=scale)
        np.testing.assert_allclose(at.ddw, slope("dw"), atol=scale)
        np.testing.assert_allclose(
            at.R @ at.R.transpose(0, 2, 1), np.broadcast_to(np.eye(3), at.R.shape), atol=1e-12
        )


def test_position_direction_and_curvature_are_continuous(path: Path):
    edges, h = path.breaks[1:-1], 1e-9
    before, after = path(edges - h), path(edges + h)
    jump = lambda name: np.abs(getattr(after, name) - getattr(before, name)).max(initial=0.0)
    scale = 1 + np.abs(path(np.linspace(0, 1, 99)).dddx).max()
    assert max(jump("x"), jump("dx"), jump("ddx")) < 1e-7 * scale and path.corners == ()
    if before.R is not None:
        assert max(jump("R"), jump("w"), jump("dw")) < 1e-6 * scale


def test_lines_join_their_ends_evenly():
    path = PATHS["line of poses"]
    at = path(np.array([0.0, 0.25, 1.0]))
    np.testing.assert_allclose(
        at.x, [POINTS[0], 0.75 * POINTS[0] + 0.25 * POINTS[1], POINTS[1]], atol=1e-14
    )
    relative = Rotation.from_matrix(POSES[1][0] @ POSES[0][0].T)
    quarter = Rotation.from_rotvec(0.25 * relative.as_rotvec()).as_matrix() @ POSES[0][0]
    np.testing.assert_allclose(at.R, [POSES[0][0], quarter, POSES[1][0]], atol=1e-12)
    assert path.length == pytest.approx(np.linalg.norm(POINTS[1] - POINTS[0]))


def test_circles_keep_their_distance_and_close():
    path = PATHS["circle"]
    n = NORMAL / np.linalg.norm(NORMAL)
    at = path(np.linspace(0, 1, 50))
    r = np.linalg.norm(np.cross(at.x - CENTRE, n), axis=-1)
    assert np.ptp(r) < 1e-14 and np.ptp(at.x @ n) < 1e-14
    np.testing.assert_allclose(at.x[0], at.x[-1], atol=1e-14)
    assert path.length == pytest.approx(2 * np.pi * r[0], rel=1e-12)
    # right-handed about the normal
    assert np.cross(at.x[0] - CENTRE, at.dx[0]) @ n > 0


def test_arc_passes_its_three_points():
    path = PATHS["arc"]
    p = np.linspace(0, 1, 20001)
    x = path(p).x
    np.testing.assert_allclose(x[[0, -1]], [POINTS[0], POINTS[2]], atol=1e-12)
    assert np.linalg.norm(x - POINTS[1], axis=1).min() < 1e-3
    np.testing.assert_allclose(path(1.0).R, POSES[2][0], atol=1e-12)


def test_screw_turns_and_advances_together():
    path = PATHS["screw"]
    n = NORMAL / np.linalg.norm(NORMAL)
    at = path(0.6)
    turn = Rotation.from_rotvec(0.6 * 5.0 * n)
    np.testing.assert_allclose(
        at.x, CENTRE + turn.apply(POINTS[0] - CENTRE) + 0.6 * 0.3 * n, atol=1e-13
    )
    np.testing.assert_allclose(at.R, turn.as_matrix() @ POSES[0][0], atol=1e-13)
    np.testing.assert_allclose(at.w, 5.0 * n, atol=1e-13)


def test_blends_stay_near_their_corners():
    sharp, blended = polyline(POINTS), polyline(POINTS, blend=0.1)
    assert len(sharp.corners) == 3
    np.testing.assert_allclose(sharp(np.array(sharp.corners)).x, POINTS[1:-1], atol=1e-12)
    x = blended(np.linspace(0, 1, 20001)).x
    for k in range(1, 4):
        # at the middle of a blend: x = c + (d₁ − d₀) 3/16 · blend
        d = [
            (POINTS[k + s] - POINTS[k + s - 1]) / np.linalg.norm(POINTS[k + s] - POINTS[k + s - 1])
            for s in (0, 1)
        ]
        expected = POINTS[k] + (d[1] - d[0]) * 0.1 * 3 / 16
        assert np.linalg.norm(x - expected, axis=1).min() < 2e-4
    assert blended.length < sharp.length < blended.length + 0.3
    # where legs are short the blend is half of the shorter
    np.testing.assert_allclose(
        polyline(POINTS, blend=100.0)(np.array([0.0, 1.0])).x, [POINTS[0], POINTS[-1]], atol=1e-12
    )


def test_splines_pass_their_points_and_closed_ones_close_smoothly():
    at = PATHS["spline"](PATHS["spline"].breaks)
    np.testing.assert_allclose(at.x, POINTS, atol=1e-12)
    np.testing.assert_allclose(at.R, [R for R, _ in POSES], atol=1e-12)
    ends = PATHS["closed spline"](np.array([0.0, 1.0]))
    for value in (ends.x, ends.dx, ends.ddx):
        np.testing.assert_allclose(value[0], value[1], atol=1e-9)


def test_sampling_by_length_is_even():
    path = PATHS["spline"]
    p = path.sample(40, by="length")
    fine = np.linspace(0, 1, 200001)
    lengths = np.concatenate(
        [[0], np.cumsum(np.linalg.norm(np.diff(path(fine).x, axis=0), axis=1))]
    )
    np.testing.assert_allclose(np.diff(np.interp(p, fine, lengths)), lengths[-1] / 39, rtol=1e-5)
    assert path.length == pytest.approx(lengths[-1], rel=1e-6)
    assert p[0] == 0.0 and p[-1] == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_array_equal(path.sample(3), [0.0, 0.5, 1.0])


def test_joint_paths_pass_their_waypoints():
    q = RNG.normal(size=(5, 3))
    path = joint_path(q, ("a", "b", "c"))
    np.testing.assert_allclose(path(path.breaks).q, q, atol=1e-12)
    p, h = np.linspace(0.01, 0.99, 50), 1e-6
    for low, high, derivative in zip(path(p - h), path(p + h), path(p)[1:]):
        near = np.abs(p[:, None] - path.breaks).min(1) > 2 * h
        np.testing.assert_allclose(derivative[near], ((high - low) / (2 * h))[near], atol=1e-3)
    straight = joint_path(q[:2])(0.3)
    np.testing.assert_allclose(straight.q, 0.7 * q[0] + 0.3 * q[1], atol=1e-14)
    np.testing.assert_allclose(straight.ddq, 0.0, atol=1e-12)


def test_rotations_agree_with_scipy():
    for size in (1e-9, 1e-3, 1.0, 3.1, np.pi - 1e-9):
        v = RNG.normal(size=(20, 3))
        v *= size / np.linalg.norm(v, axis=1, keepdims=True)
        R = Rotation.from_rotvec(v)
        np.testing.assert_allclose(exp(v), R.as_matrix(), atol=1e-14)
        np.testing.assert_allclose(log(R.as_matrix()), v, atol=1e-7 if size > 3.14 else 1e-13)
        q = R.as_quat()
        np.testing.assert_allclose(to_quaternion(R.as_matrix()), q * np.sign(q[:, 3:]), atol=1e-14)
        np.testing.assert_allclose(from_quaternion(-2 * q), R.as_matrix(), atol=1e-14)
    assert np.array_equal(log(np.eye(3)), np.zeros(3))


def test_waypoints_from_csv(tmp_path):
    file = tmp_path / "points.csv"
    rows = [[*p, *Rotation.from_matrix(R).as_quat()] for R, p in POSES]
    file.write_text(
        "# measured by hand\nx, y, z, qx, qy, qz, qw\n"
        + "\n".join(",".join(map(repr, map(float, r))) for r in rows)
        + "\n\n"
    )
    path, expected = spline(file), PATHS["spline"]
    np.testing.assert_allclose(path(0.37).x, expected(0.37).x, atol=1e-12)
    np.testing.assert_allclose(path(0.37).R, expected(0.37).R, atol=1e-9)
    file.write_text("x,y,z\n0,0,0\n1,0,0\n1,1,0\n")
    assert polyline(file, blend=0.1).rotation is None


@pytest.mark.parametrize(
    ("text", "line_number", "message"),
    [
        ("x,y\n0,0\n1,1\n", 1, "no column 'z'"),
        ("x,y,z,qx\n0,0,0,1\n", 1, "no column 'qy'"),
        ("x,y,z\n0,0,0\n1,a,0\n", 3, "not a finite number"),
        ("x,y,z\n0,0,0\n\n1,0\n", 4, "2 values"),
        ("x,y,z\n0,0,0\n", None, "at least two"),
        ("0,0,0\n1,1,1\n", 1, "header"),
        ("x,x,z\n", 1, "twice"),
        ("", 1, "empty"),
        ("x,y,z,qx,qy,qz,qw\n0,0,0,0,0,0,1\n1,0,0,0,0,0,0\n", 3, "no direction"),
    ],
)
def test_bad_waypoint_files_are_refused_with_the_line(tmp_path, text, line_number, message):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(FileError, match=message) as caught:
        spline(file)
    assert caught.value.line == line_number


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: line(POINTS[0], POINTS[0]), "are the same"),
        (lambda: arc([0, 0, 0], [1, 0, 0], [2, 0, 0]), "one line"),
        (lambda: circle(POINTS[0], CENTRE, [0, 0, 0]), "direction"),
        (lambda: circle(CENTRE, CENTRE, NORMAL), "no length"),
        (lambda: polyline([POINTS[0]]), "at least two"),
        (lambda: polyline(POINTS, blend=-1.0), "blend"),
        (lambda: polyline([POSES[0], POINTS[1], POSES[2]]), "point 1 has no orientation"),
        (lambda: spline(3.0), "not a sequence"),
        (lambda: PATHS["circle"](1.5), "from 0 to 1"),
        (lambda: joint_path([[0.0, 1.0]]), "at least two"),
        (lambda: joint_path([[0.0, 1.0], [0.0, 1.0]]), "the same"),
    ],
)
def test_impossible_paths_are_refused(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_an_orientation_given_at_the_start_alone_holds():
    path = polyline([POSES[0], POINTS[1], POINTS[2]], blend=0.1)
    np.testing.assert_allclose(
        path(np.linspace(0, 1, 7)).R, np.broadcast_to(POSES[0][0], (7, 3, 3)), atol=1e-14
    )
