"""Simulation with drives: the limits bite, the books close, and one axis agrees with MuJoCo's own
d.c. motor."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from armature.drive import Amplifier, Bus, Coupling, Drive, Friction, Gear, Motor, Thermal
from armature.dynamics.compiled import forward_dynamics, kinetic_energy, potential_energy
from armature.errors import ArgumentError
from armature.robot import Joint, Link, Robot, library
from armature.simulate.driven import DrivenSimulation, simulate_drives
from armature.simulate.ledger import ledger
from armature.simulate.result import Status
from armature.simulation import simulate

ARM = library("burgevin").with_payload(2.0)
START, REST = np.array([0.0, 1.2, 0.6]), np.zeros(3)


def lossy(ratio):
    return Drive(
        Motor(0.5, 0.1, inertia=2e-4, iron_torque=0.01),
        Gear(ratio, 0.8),
        Amplifier(efficiency=0.95, standby=1.0),
        Friction(0.3),
    )


LOSSY = ARM.with_drives({"phi": lossy(60.0), "theta": lossy(-80.0), "r": lossy(200.0)})


def pendulum(**motor):
    """One link of 1.5 kg whose centre is 0.3 m from its hinge, turning about y, the motor's rotor
    included."""
    robot = Robot(
        "pendulum",
        (Link("base"), Link("rod", 1.5, (0.3, 0.0, 0.0), (0.0, 0.02, 0.02, 0.0, 0.0, 0.0))),
        (Joint("j", "continuous", "base", "rod", axis=(0.0, 1.0, 0.0)),),
        "base",
    )
    return robot.with_drives(
        {"j": Drive(Motor(1.2, 0.05, inertia=3e-5, **motor), Gear(40.0), Amplifier(24.0))}
    )


def test_one_axis_agrees_with_mujoco_dcmotor():
    import mujoco

    model = mujoco.MjModel.from_xml_string(
        """
      <mujoco><option timestep="2e-4" integrator="RK4"><flag contact="disable"/></option>
        <worldbody><body><joint name="j" type="hinge" axis="0 1 0" armature="0.048"/>
          <inertial pos="0.3 0 0" mass="1.5" diaginertia="1e-9 0.02 0.02"/></body></worldbody>
        <actuator><dcmotor joint="j" gear="40" motorconst="0.05" resistance="1.2"/></actuator></mujoco>"""
    )

    # a constant voltage against gravity: the same equation by the same method
    data = mujoco.MjData(model)
    data.ctrl[0] = 10.0
    for _ in range(2500):
        mujoco.mj_step(model, data)
    run = simulate_drives(
        pendulum(), lambda t, q, v: np.array([10.0]), [0.0], [0.0], 0.5, 2e-4, command="voltage"
    )
    assert run.q[-1, 0] == pytest.approx(data.qpos[0], abs=1e-9) and run.v[-1, 0] == pytest.approx(
        data.qvel[0], abs=1e-8
    )

    # a voltage that is cut at 24 V
    data = mujoco.MjData(model)
    voltage = lambda t: 40.0 * np.sin(4 * t)  # above 24 V it is cut
    run = simulate_drives(
        pendulum(),
        lambda t, q, v: np.array([voltage(t)]),
        [0.2],
        [0.0],
        1.0,
        2e-4,
        command="voltage",
    )
    angles = [0.2]
    data.qpos[0] = 0.2
    for n in range(5000):
        data.ctrl[0] = np.clip(voltage(n * 2e-4), -24, 24)
        mujoco.mj_step(model, data)
        angles.append(data.qpos[0])
    # MuJoCo holds the voltage over each step: first order in the step
    assert np.abs(run.q[:, 0] - angles).max() < 2e-3 * np.ptp(angles) and np.ptp(angles) > 1.0
    assert np.abs(run.voltage).max() <= 24 + 1e-9 and 0.1 < run.limited["j"] < 0.9


def test_without_active_limits_the_motion_is_that_of_ideal_torques():
    torque = lambda t: np.array([8 * np.sin(5 * t), -12.0, 60 + 10 * np.cos(4 * t)])
    run = simulate_drives(LOSSY, lambda t, q, v: torque(t), START, REST, 0.5)

    def rhs(t, x):
        return np.concatenate([x[3:], forward_dynamics(LOSSY, x[:3], x[3:], torque(t))])

    ideal = solve_ivp(
        rhs, (0, 0.5), np.concatenate([START, REST]), rtol=1e-10, atol=1e-12, method="DOP853"
    ).y[:, -1]
    assert run.q[-1] == pytest.approx(ideal[:3], abs=1e-7) and run.v[-1] == pytest.approx(
        ideal[3:], abs=1e-6
    )


@pytest.mark.parametrize("supply", ("regenerative", "non-regenerative", Bus(2e-3, 60.0, 70.0)))
def test_books_of_a_simulation_close(supply):
    """drawn − returned − resistor − capacitor = work + losses of the drives, and work = change of
    the robot's energy."""
    run = simulate_drives(
        LOSSY,
        lambda t, q, v: np.array([6 * np.sin(5 * t), -12.0, 60.0]),
        START,
        REST,
        0.6,
        5e-4,
        supply=supply,
    )
    energy = kinetic_energy(LOSSY, run.q[[0, -1]], run.v[[0, -1]]) + potential_energy(
        LOSSY, run.q[[0, -1]]
    )
    assert run.work[-1] == pytest.approx(energy[1] - energy[0], abs=1e-6 * run.drawn[-1])
    book = ledger(LOSSY, run, supply)
    assert abs(book.residual) <= 1e-6 * book.throughput
    # the ledger knows the motion only and rounds no corners
    assert book.drawn == pytest.approx(run.drawn[-1], rel=0.02) and book.returned == pytest.approx(
        run.returned[-1], rel=0.05, abs=0.02
    )


def test_limits_bite():
    strong = lambda t, q, v: np.array([200.0, 0.0, 400.0]) * np.sign(np.sin(8 * t + 0.1))
    run = simulate_drives(ARM, strong, START, REST, 0.6)
    assert np.abs(run.voltage).max() <= 100 + 1e-9 and run.limited["phi"] > 0.5
    # peak heat 80 W at 1 Ω; more flows only where the back-EMF itself drives it
    beyond = np.abs(run.current) > 80**0.5 + 1e-9
    assert (
        np.all(np.abs(run.voltage[beyond]) > 100 - 1e-6)
        and np.isclose(np.abs(run.current), 80**0.5).any()
    )


def test_back_emf_limits_the_speed():
    """On 24 V the unloaded motor cannot turn faster than 24/(40 · 0.05) = 12 rad/s at the joint."""
    run = simulate_drives(
        pendulum().with_gravity((0.0, 0.0, 0.0)),
        lambda t, q, v: np.array([100.0]),
        [0.0],
        [0.0],
        3.0,
        command="torque",
    )
    assert run.v.max() < 12.0 and run.v[-1, 0] == pytest.approx(12.0, rel=1e-3)


def test_bus_rises_while_braking_until_the_resistor_burns():
    bus = Bus(1e-2, 24.0, 30.0)
    turn = lambda t, q, v: np.array([3.0 if t < 0.25 else -3.0])
    run = simulate_drives(
        pendulum().with_gravity((0.0, 0.0, 0.0)),
        turn,
        [0.0],
        [0.0],
        0.45,
        supply=bus,
        command="current",
    )
    U = run.bus_voltage
    before, after = run.t < 0.25, run.t > 0.3
    assert (
        np.allclose(U[before], 24.0)
        and U.max() == pytest.approx(30.0, abs=1e-6)
        and U[after].min() > 24.0
    )
    assert run.resistor[-1] > 0 and run.resistor[before][-1] == 0
    stored = bus.energy(U[-1]) - bus.energy(U[0])
    power = np.sum((run.power[1:] + run.power[:-1]) / 2, axis=1) @ np.diff(run.t)
    assert run.drawn[-1] - run.resistor[-1] - stored == pytest.approx(power, rel=1e-2)


def test_windings_warm_up_and_lose_torque():
    thermal = Thermal(1.0, 4.0, 2.0, 100.0)
    robot = pendulum(thermal=thermal)
    run = simulate_drives(
        robot,
        lambda t, q, v: np.array([3.0 if t % 0.1 < 0.05 else -3.0]),
        [0.0],
        [0.0],
        2.0,
        command="current",
    )
    cycle = thermal.cycle(np.full(2000, 1e-3), np.full(2000, 1.2 * 9), np.zeros(2000))
    assert (
        run.temperature[-1, 0] == pytest.approx(cycle.temperatures(25.0, 25.0)[-1, 0], abs=1e-3)
        and run.temperature[-1, 0] > 30
    )
    # R = 1.2 Ω at 20 °C and the winding's temperature decide the voltage
    R = 1.2 * (1 + 0.00393 * (run.temperature[:, 0] - 20))
    assert np.allclose(run.voltage[:, 0], R * run.current[:, 0] + 2.0 * run.v[:, 0], atol=1e-9)


def test_two_motors_on_one_joint_share_the_load():
    d = Drive(Motor(1.0, 0.1), Gear(50.0))
    one = pendulum().with_drives({"j": d})
    two = pendulum().with_drives([Coupling(("j",), (d, d))])
    torque = lambda t, q, v: np.array([3 * np.sin(3 * t)])
    a, b = (simulate_drives(r, torque, [0.0], [0.0], 0.5) for r in (one, two))
    assert (
        np.allclose(a.q, b.q, atol=1e-12)
        and np.allclose(a.current / 2, b.current[:, :1])
        and b.current.shape[1] == 2
    )


@pytest.mark.parametrize(
    "change, words",
    [
        ({"command": "power"}, "power"),
        ({"duration": -1.0}, "duration"),
        ({"q0": [0.0]}, "q0"),
        ({"controller": lambda t, q, v: np.zeros(2)}, "controller gave"),
        ({"robot": replace(ARM, drives=())}, "has no drives"),
    ],
)
def test_bad_arguments_are_told(change, words):
    arguments = {
        "robot": ARM,
        "controller": lambda t, q, v: np.zeros(3),
        "q0": START,
        "v0": REST,
        "duration": 0.1,
    } | change
    with pytest.raises(ArgumentError, match=words):
        simulate_drives(**arguments)


def test_simulate_takes_drives_along():
    run = simulate(
        ARM,
        np.array([1.0, -1.5, 0.3]),
        START,
        REST,
        0.2,
        drives=True,
        command="current",
        supply="non-regenerative",
    )
    assert (
        isinstance(run, DrivenSimulation)
        and run.ok
        and np.allclose(run.current, [1.0, -1.5, 0.3])
        and run.energy_drift < 1e-6
    )
    assert "801" not in repr(run) and "knots" in repr(run)
    still = simulate(ARM, None, START, REST, 0.1, drives=True, command="voltage")
    assert (
        np.abs(still.voltage).max() < 1e-12 and np.abs(still.current).max() > 0
    )  # short-circuited motors brake
    with pytest.raises(ArgumentError, match="events"):
        simulate(ARM, None, START, REST, 0.1, drives=True, events=[lambda t, q, v: q[0]])


def test_a_run_that_diverges_keeps_what_was_before():
    stiff = pendulum().with_drives(
        {"j": Drive(Motor(1e-3, 5.0), Gear(40.0))}
    )  # a time constant of 1e-9 s
    run = simulate_drives(
        stiff, lambda t, q, v: np.array([1.0]), [0.0], [1.0], 1.0, command="voltage"
    )
    assert (
        run.status is Status.DIVERGED
        and not run.ok
        and np.all(np.isfinite(run.q))
        and len(run) < 1001
    )
