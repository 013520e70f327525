"""RK4 rollouts against mujoco.rollout: the same arm, steps, start and thread count."""

from __future__ import annotations

from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
from lxml import etree

import armature as arm
from armature.simulate import rollout
from benchmarks.measure import compared, robot_file, table, ur5

MOTIONS, STEPS, STEP = 64, 500, 1e-3


def mujoco_model() -> Any:
    """The UR5 in MuJoCo without shapes: rigid bodies and joints only, RK4."""
    root = etree.parse(str(robot_file("ur_description/urdf/ur5_robot.urdf"))).getroot()
    for element in [*root.iter("visual"), *root.iter("collision"), *root.iter("dynamics")]:
        element.getparent().remove(element)
    root.insert(0, etree.fromstring('<mujoco><compiler fusestatic="true" balanceinertia="false" boundmass="0"/></mujoco>'))
    model = mujoco.MjModel.from_xml_string(etree.tostring(root, encoding="unicode"))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = STEP
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    return model


def run() -> str:
    """64 motions of 500 RK4 steps under gravity, no torques, one thread each side."""
    robot, _ = ur5()
    # joint friction off: both sides simulate the same frictionless arm
    robot = robot.with_friction({name: {"viscous": 0.0, "coulomb": 0.0} for name in robot.joint_names})
    model = mujoco_model()
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, i) for i in range(model.njnt)]
    order = [names.index(name) for name in robot.joint_names]
    rng = np.random.default_rng(0)
    q0, v0 = rng.uniform(-1, 1, (MOTIONS, robot.n)), rng.uniform(-0.5, 0.5, (MOTIONS, robot.n))
    data = mujoco.MjData(model)
    state = np.zeros((MOTIONS, 1 + 2 * robot.n))
    state[:, [1 + i for i in order]], state[:, [1 + robot.n + i for i in order]] = q0, v0

    theirs = lambda: mujoco.rollout.rollout(model, data, state, nstep=STEPS)
    ours = lambda: rollout(robot, None, q0, v0, STEPS * STEP, STEP, threads=1)
    end = np.asarray(theirs()[0])[:, -1, 1 : 1 + robot.n][:, order]
    difference = np.abs(np.asarray(ours().q)[:, -1] - end).max()
    peer, mine = compared([theirs, ours], repeats=7)
    total = MOTIONS * STEPS
    row = [
        "UR5",
        f"{peer.median / total * 1e6:.2f}",
        f"{mine.median / total * 1e6:.3f}",
        f"**{peer.median / mine.median:.0f}×**",
        f"{difference:.0e}",
    ]
    header = ["robot", "mujoco.rollout, µs a step", "Armature, µs a step", "faster by", "difference of the end positions, rad"]
    return f"## RK4 rollouts, {MOTIONS} × {STEPS} steps, one thread\n\n" + table(header, [row])


if __name__ == "__main__":
    arm.set_threads(1)
    print(run())
