"""Random mechanisms for the laws: hypothesis chooses the structure (so that failures shrink), a
seed the numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import assume, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from armature.dynamics.recursion import mass
from armature.robot.model import Joint, Link, Mimic, Robot, Rotor

EPS = float(np.finfo(float).eps)
ONE_AXIS = ("revolute", "continuous", "prismatic")
few = settings(max_examples=25)


@dataclass(frozen=True)
class Sample:
    """A robot, the random numbers that go with it, and a state of it."""

    robot: Robot
    rng: np.random.Generator
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray

    @property
    def tree(self):
        return self.robot.tree

    @property
    def moving_links(self) -> list[str]:
        return [name for name, frame in self.tree.frames.items() if frame.body >= 0]


def unit(rng: np.random.Generator) -> tuple[float, float, float]:
    x = rng.normal(size=3)
    return tuple(x / np.linalg.norm(x))


def rotation(rng: np.random.Generator) -> tuple:
    return tuple(map(tuple, Rotation.random(random_state=rng).as_matrix()))


def moments(points: np.ndarray, masses: np.ndarray) -> tuple[float, tuple, tuple]:
    """Mass, centre and (xx, yy, zz, xy, xz, yz) about it of a cloud of points."""
    c = masses @ points / masses.sum()
    r = points - c
    J = np.einsum(
        "k,kij->ij",
        masses,
        np.sum(r**2, axis=1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :],
    )
    return float(masses.sum()), tuple(c), (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])


def random_link(name: str, shape: str, rng: np.random.Generator) -> Link:
    """A solid body, a thin rod or a point (both with semidefinite inertia), or nothing at all."""
    if shape == "massless":
        return Link(name)
    count = {"solid": 5, "rod": 2, "point": 1}[shape]
    centre, size = rng.uniform(-0.3, 0.3, 3), 0.2
    return Link(
        name, *moments(centre + size * rng.normal(size=(count, 3)), rng.uniform(0.2, 2.0, count))
    )


def random_joint(
    name: str, kind: str, axis: str, parent: str, child: str, rng: np.random.Generator
) -> Joint:
    """A joint at a random place; axis: "slanted", or one of the six coordinate directions such as
    "-y"."""
    if axis == "slanted":
        direction = unit(rng)
    else:
        direction = tuple((1.0 if axis[0] == "+" else -1.0) * np.eye(3)["xyz".index(axis[1])])
    turned = (
        rotation(rng) if rng.random() < 0.7 else ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    )
    return Joint(name, kind, parent, child, tuple(rng.uniform(-0.5, 0.5, 3)), turned, direction)


def random_rotor(kind: str, rng: np.random.Generator) -> Rotor | None:
    """A motor's rotor: none, without or with an axis (gyroscopic), its gear turning either way."""
    if kind == "none":
        return None
    ratio = float(rng.choice([-1.0, 1.0]) * rng.uniform(1.0, 30.0))
    return Rotor(float(rng.uniform(1e-4, 1e-3)), ratio, unit(rng) if kind == "gyroscopic" else None)


@st.composite
def robots(
    draw,
    most: int = 6,
    floating: bool | None = None,
    mimics: bool = True,
    rotors: tuple[str, ...] = ("none", "none", "plain", "gyroscopic"),
    kinds: tuple[str, ...] = ("revolute", "continuous", "prismatic", "fixed", "planar"),
) -> Robot:
    """A tree of up to `most` joints below its base, which floats when drawn or told so; every joint
    moves something."""
    count = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    free = draw(st.booleans()) if floating is None else floating
    links = [random_link("link0", "solid", rng)]
    joints: list[Joint] = []
    for i in range(1, count + 1):
        parent = f"link{draw(st.integers(max(0, i - 3), i - 1))}"
        links.append(
            random_link(
                f"link{i}", draw(st.sampled_from(["solid", "rod", "point", "massless"])), rng
            )
        )
        axis = draw(st.sampled_from(["slanted", "+x", "-x", "+y", "-y", "+z", "-z"]))
        joint = random_joint(
            f"joint{i}", draw(st.sampled_from(kinds)), axis, parent, f"link{i}", rng
        )
        rotor = random_rotor(draw(st.sampled_from(rotors)), rng) if joint.kind in ONE_AXIS else None
        joints.append(replace(joint, rotor=rotor))
    # what hangs at the ends is solid, so that (almost) every joint moves something
    tips = {link.name for link in links} - {j.parent for j in joints}
    links = [random_link(link.name, "solid", rng) if link.name in tips else link for link in links]
    if mimics:
        joints = _some_mimic(draw, joints, rng)
    base = "link0"
    if free:
        links, base = [Link("world"), *links], "world"
        joints = [
            Joint("free", "floating", "world", "link0", tuple(rng.normal(size=3)), rotation(rng)),
            *joints,
        ]
    robot = Robot("random", tuple(links), tuple(joints), base, tuple(9.81 * np.array(unit(rng))))
    assume(robot.nv > 0)
    assume(np.linalg.cond(mass.mass_matrix(robot.tree, random_q(robot, rng))) < 1e7)
    return robot


def _some_mimic(draw, joints: list[Joint], rng: np.random.Generator) -> list[Joint]:
    """Couple some joints to any one-axis joint, also to one that mimics itself (a chain) or stands
    later in the file."""
    able = [i for i, j in enumerate(joints) if j.kind in ONE_AXIS]
    order = draw(st.permutations(able))
    for k, i in enumerate(order[1:], start=1):
        if draw(st.integers(0, 3)) == 0:
            master = joints[order[draw(st.integers(0, k - 1))]]
            joints[i] = replace(
                joints[i],
                mimic=Mimic(master.name, float(rng.uniform(-2, 2)), float(rng.uniform(-1, 1))),
            )
    return joints


def random_q(robot: Robot, rng: np.random.Generator) -> np.ndarray:
    """Coordinates at random, quaternions of unit length."""
    q = rng.uniform(-2.0, 2.0, robot.nq)
    for body in robot.tree.bodies:
        if body.kind == "free":
            q[body.q + 3 : body.q + 7] = Rotation.random(random_state=rng).as_quat()
    return q


def sample(robot: Robot, seed: int) -> Sample:
    """A robot with a random state."""
    rng = np.random.default_rng(seed)
    return Sample(
        robot, rng, random_q(robot, rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    )


def samples(**options) -> st.SearchStrategy[Sample]:
    """Robots as `robots` makes them, each with a random state."""
    return st.builds(sample, robots(**options), st.integers(0, 2**32 - 1))


def random_wrenches(s: Sample, most: int = 3) -> dict[str, np.ndarray]:
    """Forces and torques on some of the links, welded ones and the base among them."""
    names = list(s.robot.link_names)
    chosen = s.rng.choice(names, min(most, len(names)), replace=False)
    return {str(name): 5.0 * s.rng.normal(size=6) for name in chosen}


# what the tests compute for themselves -----------------------------------------------------------


def q_rate(robot: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """q̇ of a velocity v: v itself, but for a floating base ẋ = R u and the quaternion's rate ½ ε ∘
    ω."""
    rate = np.zeros(robot.nq)
    for body in robot.tree.bodies:
        if body.kind == "free":
            u, w = v[body.v : body.v + 3], v[body.v + 3 : body.v + 6]
            quaternion = q[body.q + 3 : body.q + 7]
            rate[body.q : body.q + 3] = Rotation.from_quat(quaternion).apply(u)
            x, s = quaternion[:3], quaternion[3]
            rate[body.q + 3 : body.q + 7] = 0.5 * np.array([*(s * w + np.cross(x, w)), -x @ w])
        elif not body.mimic:
            rate[body.q] = v[body.v]
    return rate


def along(
    robot: Robot,
    function,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray | None = None,
    h: float = 1e-30,
) -> np.ndarray:
    """d/dt of function(q, v) along the motion q̇ = v, v̇ = a, by the complex step."""
    moved = q + 1j * h * q_rate(robot, q, v)
    change = function(moved) if a is None else function(moved, v + 1j * h * a)
    return np.imag(change) / h


def assert_near(actual, expected, tolerance: float = 1e-11, scale: float = 0.0) -> None:
    """Equal within `tolerance` of the largest entry (of at least 1, or of `scale`)."""
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape, f"shapes {actual.shape} and {expected.shape}"
    size = max(1.0, scale, np.abs(actual).max(initial=0.0), np.abs(expected).max(initial=0.0))
    error = np.abs(actual - expected).max(initial=0.0)
    assert error <= tolerance * size, (
        f"they differ by {error:.3e} of {size:.3e}\n{actual}\n{expected}"
    )


def acceleration_tolerance(M: np.ndarray, a: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """What rounding may do to a = M⁻¹ forces, entry by entry: forces and M each wrong by a few eps,
    M scaled to a unit diagonal."""
    d = np.sqrt(np.diag(M))
    scaled = M / np.outer(d, d)
    inverse = np.linalg.norm(np.linalg.inv(scaled), 2)
    size = np.linalg.norm(forces / d) + np.linalg.norm(scaled, 2) * np.linalg.norm(a * d)
    return 2.0 * len(M) * EPS * inverse * size / d
