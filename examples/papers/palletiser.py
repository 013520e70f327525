"""A palletising arm whose wrist is kept level by parallelograms: a tree with two closed loops, four
passive joints, two motors."""

import numpy as np

import armature as arm
from armature.dynamics.holonomic.closed_loops import close_loops
from armature.robot.loop import Loop
from armature.robot.model import Joint, Link, Robot

Y = (0.0, 1.0, 0.0)
LONG = (0.02, 0.25, 0.25, 0.0, 0.0, 0.0)
SMALL = (0.01, 0.01, 0.01, 0.0, 0.0, 0.0)


def build() -> Robot:
    """Lower arm (up), forearm (forward), a rod beside each, a bell crank at the elbow and the level
    wrist."""
    links = (
        Link("base"),
        Link("lower arm", 8.0, (0, 0, 0.5), LONG),
        Link("elbow plate", 1.0, (-0.1, 0, 0), SMALL),
        Link("forearm", 5.0, (0.5, 0, 0), LONG),
        Link("wrist", 2.0, (0.05, 0, 0.05), SMALL),
        Link("rear rod", 1.0, (0, 0, 0.5), LONG),
        Link("upper rod", 1.0, (0.5, 0, 0), LONG),
    )
    hinge = lambda name, parent, child, at, passive=True: Joint(
        name, "continuous", parent, child, at, axis=Y, passive=passive
    )
    joints = (
        hinge("shoulder", "base", "lower arm", (0, 0, 0.4), passive=False),
        hinge("plate", "lower arm", "elbow plate", (0, 0, 1)),
        hinge("elbow", "lower arm", "forearm", (0, 0, 1), passive=False),
        hinge("wrist", "forearm", "wrist", (1, 0, 0)),
        hinge("rear", "base", "rear rod", (-0.2, 0, 0.4)),
        hinge("upper", "elbow plate", "upper rod", (0, 0, 0.2)),
    )
    loops = (
        Loop("rear pin", "revolute", "elbow plate", "rear rod", (-0.2, 0, 0), (0, 0, 1), axis=Y),
        Loop("upper pin", "revolute", "wrist", "upper rod", (0, 0, 0.2), (1, 0, 0), axis=Y),
    )
    return Robot("palletiser", links, joints, "base", loops=loops)


def main() -> arm.Trajectory:
    robot = build()
    start = {"shoulder": 0.2, "elbow": 0.3}
    q0 = close_loops(robot, [start.get(name, 0.0) for name in robot.joint_names])
    motors = [robot.joint_names.index(name) for name in ("shoulder", "elbow")]

    def servo(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        goal, tau = (
            np.array([0.2 + 0.3 * np.sin(2 * t), 0.3 - 0.2 * np.sin(3 * t)]),
            np.zeros(robot.n),
        )
        tau[motors] = [-20.0, 50.0] + 2000.0 * (goal - q[motors]) - 200.0 * v[motors]
        return tau

    run = arm.simulate(robot, servo, q0, None, 2.0)
    wrist = arm.pose(robot, run.q, "wrist")
    print(run)
    print(f"the wrist stays level within {np.max(np.abs(wrist.R - np.eye(3))):.1e}")
    return run


if __name__ == "__main__":
    main()
