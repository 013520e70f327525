"""The tool of a six-axis arm along a line: as fast as its drives allow, with the least energy at 1.4 times that, and rehearsed."""

import numpy as np

import armature as arm


def main() -> tuple[arm.Robot, object]:
    robot = arm.library("six_axis")
    seed = np.array([0.2, -0.6, 1.2, 0.3, 0.4, 0.0])
    hand = arm.pose(robot, seed, "tool")
    path = arm.line(hand, (hand.R, hand.p + np.array([0.1, 0.2, 0.15])))

    fast = arm.minimize_time(robot, arm.FollowPath(path, link="tool", seed=seed))
    print(fast)
    calm = arm.minimize_energy(robot, arm.FollowPath(path, duration=1.4 * fast.duration, link="tool", seed=seed))
    print(calm)
    print(calm.certificate)

    hasty = arm.minimize_energy(robot, arm.FollowPath(path, duration=0.5 * fast.duration, link="tool", seed=seed))
    print(hasty.diagnosis)

    print(arm.rehearse(robot, calm, runs=32))
    return robot, calm


if __name__ == "__main__":
    main()
