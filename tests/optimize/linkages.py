"""Small mechanisms with passive joints and closed loops, with drives, for the tests of the solver
and the planners."""

import numpy as np

from armature.drive import Drive, Gear, Motor
from armature.dynamics.holonomic.closed_loops import close_loops
from armature.optimize.transcription.closure import closure
from armature.robot import Joint, Link, Robot
from armature.robot.loop import Loop

INWARD = (0.0, -1.0, 0.0)  # joints turn upwards from x towards z


def drive(peak=12.0, ratio=80.0):
    return Drive(Motor(resistance=0.5, torque_constant=0.1, peak_current=peak), Gear(ratio=ratio))


def bar(name, mass, length):
    return Link(
        name,
        mass,
        (length / 2, 0, 0),
        (1e-3 * mass, mass * length**2 / 12, mass * length**2 / 12, 0, 0, 0),
    )


def four_bar(crank=0.3, coupler=0.6, rocker=0.5, ground=0.7):
    """A driven crank, a coupler on it, and a rocker on the ground, closed by a pin."""
    hinge = lambda name, parent, at: Joint(
        name, "continuous", parent, name, at, axis=INWARD, passive=name != "crank"
    )
    return Robot(
        "four-bar",
        (
            Link("base"),
            bar("crank", 1.0, crank),
            bar("coupler", 1.5, coupler),
            bar("rocker", 1.2, rocker),
        ),
        (
            hinge("crank", "base", (0, 0, 0)),
            hinge("coupler", "crank", (crank, 0, 0)),
            hinge("rocker", "base", (ground, 0, 0)),
        ),
        "base",
        loops=(
            Loop(
                "pin", "revolute", "coupler", "rocker", (coupler, 0, 0), (rocker, 0, 0), axis=INWARD
            ),
        ),
    ).with_drives({"crank": drive()})


def parallelogram(crank=0.4, ground=0.6):
    """A four-bar linkage whose coupler only translates."""
    return four_bar(crank, ground, crank, ground)


def same_as_parallelogram(crank=0.4):
    """One link with the parallelogram's inertia and gravity: crank and rocker turn, the coupler's
    mass goes with the crank's tip."""
    inertia = (1.0 + 1.2) * crank**2 / 3 + 1.5 * crank**2
    mass, moment = 3.7, (1.0 + 1.2) * crank / 2 + 1.5 * crank
    at = moment / mass
    about = inertia - mass * at**2
    link = Link("crank", mass, (at, 0, 0), (1e-3, about, about, 0, 0, 0))
    joint = Joint("crank", "continuous", "base", "crank", axis=INWARD)
    return Robot("one link", (Link("base"), link), (joint,), "base").with_drives({"crank": drive()})


def five_bar():
    """Two driven cranks on the ground, two couplers that meet at the hand."""
    hinge = lambda name, parent, at: Joint(
        name, "continuous", parent, name, at, axis=INWARD, passive="coupler" in name
    )
    return Robot(
        "five-bar",
        (
            Link("base"),
            *(
                bar(f"{side} {part}", 1.0, 0.4)
                for side in ("left", "right")
                for part in ("crank", "coupler")
            ),
        ),
        (
            hinge("left crank", "base", (0, 0, 0)),
            hinge("left coupler", "left crank", (0.4, 0, 0)),
            hinge("right crank", "base", (0.3, 0, 0)),
            hinge("right coupler", "right crank", (0.4, 0, 0)),
        ),
        "base",
        loops=(
            Loop(
                "hand",
                "revolute",
                "left coupler",
                "right coupler",
                (0.4, 0, 0),
                (0.4, 0, 0),
                axis=INWARD,
            ),
        ),
    ).with_drives({"left crank": drive(), "right crank": drive()})


def double_pendulum(motor):
    """Two hanging links with one motor: at the elbow (an acrobot) or at the shoulder (a
    pendubot)."""
    hinge = lambda name, parent, child, at: Joint(
        name, "continuous", parent, child, at, axis=INWARD, passive=name != motor
    )
    hanging = lambda name: Link(name, 1.0, (0, 0, -0.25), (0.02, 0.02, 0.002, 0, 0, 0))
    joints = (
        hinge("shoulder", "base", "upper", (0, 0, 0)),
        hinge("elbow", "upper", "fore", (0, 0, -0.5)),
    )
    return Robot(
        "double pendulum", (Link("base"), hanging("upper"), hanging("fore")), joints, "base"
    ).with_drives({motor: drive()})


def cart_pole():
    """A cart on a rail with a hanging pole."""
    links = (
        Link("base"),
        Link("cart", 1.0, (0, 0, 0), (0.01, 0.01, 0.01, 0, 0, 0)),
        Link("pole", 0.3, (0, 0, -0.25), (0.01, 0.01, 1e-3, 0, 0, 0)),
    )
    joints = (
        Joint("rail", "prismatic", "base", "cart", axis=(1, 0, 0)),
        Joint("pole", "continuous", "cart", "pole", axis=INWARD, passive=True),
    )
    return Robot("cart-pole", links, joints, "base").with_drives(
        {"rail": Drive(Motor(0.5, 0.1, peak_current=50.0), Gear(ratio=20.0))}
    )


def ends(robot, start, goal):
    """Both ends with closed loops, the second reached from the first: values of the joints with
    motors."""
    motors = [j for j, driven in enumerate(robot.drivetrain.driven) if driven]
    seed = np.full(robot.n, 0.0)
    seed[motors] = start
    passive = [j for j in range(robot.n) if j not in motors]
    seed[passive] = {"four-bar": (0.3, 1.5), "five-bar": (-0.8, 0.8)}.get(
        robot.name, np.zeros(len(passive))
    )
    first = close_loops(robot, seed)
    path = np.repeat(first[None], 41, axis=0)
    path[:, motors] += np.linspace(0, 1, 41)[:, None] * (np.asarray(goal) - first[motors])
    return first, closure(robot, first).closed(path)[-1]


def cubic(robot, start, goal, duration, N):
    """The joint cubic of the free coordinates, loops closed: q, v, a (N+1, n)."""
    t = np.linspace(0.0, 1.0, N + 1)[:, None]
    d, T = goal - start, duration
    motion = start + (3 * t**2 - 2 * t**3) * d, (6 * t - 6 * t**2) * d / T, (6 - 12 * t) * d / T**2
    return closure(robot, np.array([start, goal])).follow(*motion)
