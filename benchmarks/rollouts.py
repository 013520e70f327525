"""RK4 rollouts against mujoco.rollout: the same arm, steps, start and thread count."""

from __future__ import annotations

import os
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
from lxml import etree

import armature as arm
from armature.simulation import rollout
from benchmarks.measure import compared, robot_file, table, ur5

MOTIONS, STEPS, STEP = 64, 500, 1e-3


def mujoco_model() -> Any:
    """The UR5 in MuJoCo without shapes: rigid bodies and joints only, RK4."""
    root = etree.parse(str(robot_file("ur_description/urdf/ur5_robot.urdf"))).getroot()
    for element in [*root.iter("visual"), *root.iter("collision"), *root.iter("dynamics")]:
        element.getparent().remove(element)
    root.insert(
        0,
        etree.fromstring(
            '<mujoco><compiler fusestatic="true" balanceinertia="false" boundmass="0"/></mujoco>'
        ),
    )
    model = mujoco.MjModel.from_xml_string(etree.tostring(root, encoding="unicode"))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = STEP
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(
        mujoco.mjtDisableBit.mjDSBL_LIMIT
    )
    return model


def run() -> str:
    """64 motions of 500 RK4 steps under gravity, no torques: one thread each side, then all
    cores."""
    robot, _ = ur5()
    # joint friction off: both sides simulate the same frictionless arm
    none = {"viscous": 0.0, "coulomb": 0.0}
    robot = robot.with_friction(dict.fromkeys(robot.joint_names, none))
    model = mujoco_model()
    cores = os.cpu_count() or 1
    rows = [row(robot, model, threads) for threads in sorted({1, cores})]
    header = ["robot", "threads of each side", "mujoco.rollout, µs a step", "Armature, µs a step"]
    header += ["faster by", "difference of the end positions, rad"]
    return f"## RK4 rollouts, {MOTIONS} × {STEPS} steps\n\n" + table(header, rows)


def row(robot: arm.Robot, model: Any, threads: int) -> list[str]:
    """Both sides with as many threads."""
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, i) for i in range(model.njnt)]
    order = [names.index(name) for name in robot.joint_names]
    rng, shape = np.random.default_rng(0), (MOTIONS, robot.n)
    q0, v0 = rng.uniform(-1, 1, shape), rng.uniform(-0.5, 0.5, shape)
    state = np.zeros((MOTIONS, 1 + 2 * robot.n))
    state[:, [1 + i for i in order]] = q0
    state[:, [1 + robot.n + i for i in order]] = v0
    data = [mujoco.MjData(model) for _ in range(threads)]  # one for each thread
    with mujoco.rollout.Rollout(nthread=threads if threads > 1 else 0) as pool:
        theirs = lambda: pool.rollout(model, data, state, nstep=STEPS)
        ours = lambda: rollout(robot, None, q0, v0, STEPS * STEP, STEP, threads=threads)
        end = np.asarray(theirs()[0])[:, -1, 1 : 1 + robot.n][:, order]
        difference = np.abs(np.asarray(ours().q)[:, -1] - end).max()
        peer, mine = (t.median / (MOTIONS * STEPS) for t in compared([theirs, ours], repeats=7))
    figures = [f"{peer * 1e6:.2f}", f"{mine * 1e6:.3f}", f"**{peer / mine:.0f}×**"]
    return ["UR5", str(threads), *figures, f"{difference:.0e}"]


if __name__ == "__main__":
    print(run())
