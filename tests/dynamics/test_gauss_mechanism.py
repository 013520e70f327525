"""General mechanisms: what each coupling leaves free, what it does to the motion, and what is
refused."""

import numpy as np
import pytest

from armature import mechanisms as mech
from armature.dynamics import compiled
from armature.errors import ArgumentError, RobotError
from armature.robot.model import Joint, Link, Robot, Rotor
from armature.spatial.numbers import cos, sin
from armature.spatial.vectors import dot

BOX = (0.1, 0.2, 0.25)
Z = (0.0, 0.0, 1.0)


def body(name: str = "b", **more) -> mech.Body:
    return mech.Body(name, 2.0, BOX, **more)


@pytest.mark.parametrize(
    "coupling, freedom",
    [
        (mech.revolute("c", "a", "b", (0.5, 0, 0), (1, 1, 0)), 1),
        (mech.prismatic("c", "a", "b", (0.5, 0, 0), (0, 1, 2)), 1),
        (mech.cylindrical("c", "a", "b", (0.5, 0, 0), Z), 2),
        (mech.spherical("c", "a", "b", (0.5, 0, 0)), 3),
        (mech.universal("c", "a", "b", (0.5, 0, 0), (1, 0, 0), (0, 1, 1)), 2),
        (mech.planar("c", "a", "b", (0.5, 0, 0), (0, 1, 1)), 3),
        (mech.fixed("c", "a", "b", (0.5, 0, 0)), 0),
        (mech.rod("c", "a", "b", (0.1, 0, 0), (0.9, 0.2, 0)), 5),
    ],
)
def test_each_coupling_leaves_its_freedom(coupling, freedom):
    m = mech.Mechanism("pair", [body("a"), body("b", position=(1, 0, 0))], [coupling])
    assert mech.redundancy(m).freedom == 6 + freedom
    # and keeps f = 0 along a motion of both bodies
    rng = np.random.default_rng(0)
    motion = mech.simulate(m, None, None, rng.normal(size=12), 0.3, rtol=1e-9, atol=1e-10)
    assert np.max(np.abs(m.rows.evaluate(0.3, m.unpack(motion.q[-1], motion.v[-1])).f)) < 1e-11
    assert motion.energy_drift < 1e-7 and motion.loop_drift < 1e-6


def test_rows_are_the_derivatives_of_the_coupling():
    # ḟ and f̈ = A ẍ + B s̈ − D against differences of f along a motion with given accelerations
    kinds = [
        mech.revolute("r", "a", "b", (0.5, 0, 0), (1, 1, 0)),
        mech.universal("u", "a", "b", (0.5, 0, 0), (1, 0, 0), (0, 1, 1)),
        mech.rod("d", "a", "b", (0.1, 0, 0), (0.9, 0.2, 0)),
        mech.guided_point("g", "b", (1, 0, 0), lambda t: [cos(t), sin(2 * t), t * t]),
        mech.gear("w", "s", "r2", 2.0),
    ]
    motors = [mech.Motor("s", "r"), mech.Motor("r2", "r")]
    m = mech.Mechanism("pair", [body("a"), body("b", position=(1, 0, 0))], kinds, motors)
    rng = np.random.default_rng(1)
    q0, _ = m.reference()
    q0 = mech_moved(m, q0, 0.3 * rng.normal(size=m.nv))
    v0, a0 = rng.normal(size=m.nv), rng.normal(size=m.nv)
    from armature.simulate.mechanism import MechanismSystem

    rates = MechanismSystem(m, None, "direct").rates

    def along(h):
        # Taylor motion with q̈ from ẍ: two half steps of the midpoint rule are exact to h³
        q = q0.copy()
        n = 50
        for k in range(n):
            s = (k + 0.5) * h / n
            mid = q + 0.5 * h / n * rates(q, v0 + k * h / n * a0)
            q = q + h / n * rates(mid, v0 + s * a0)
        return m.rows.evaluate(0.2 + h, m.unpack(q, v0 + h * a0))

    h = 1e-3
    now, ahead, back = along(0.0), along(h), along(-h)
    assert np.allclose((ahead.f - back.f) / (2 * h), now.fd, atol=1e-5)
    r, c = m.rows.pattern
    second = np.bincount(r, now.values * a0[c], m.rows.rows) - now.D
    assert np.allclose((ahead.fd - back.fd) / (2 * h), second, atol=1e-4)


def mech_moved(m, q, dx):
    from armature.dynamics.bodies.mechanism import moved

    return moved(m, q, dx)


def flywheel(name: str, J: float, x: float) -> mech.Body:
    return mech.Body(name, 1.0, (J, J, J), (x, 0, 0))


def test_gear_adds_inertia_by_the_ratio_squared():
    J1, J2, ratio, torque = 0.3, 0.05, -4.0, 1.2
    bodies = [flywheel("one", J1, 0.0), flywheel("two", J2, 1.0)]
    joints = [
        mech.revolute("p", "ground", "one", (0, 0, 0), Z),
        mech.revolute("w", "ground", "two", (1, 0, 0), Z),
    ]
    motors = [mech.Motor("s1", "p"), mech.Motor("s2", "w")]
    m = mech.Mechanism("gears", bodies, [*joints, mech.gear("mesh", "s2", "s1", ratio)], motors)
    motion = mech.simulate(m, {"s1": torque}, duration=2.0)
    s1, v1 = motion.coordinate("s1")
    expected = torque / (J1 + ratio**2 * J2)
    assert np.allclose(s1, 0.5 * expected * motion.t**2, atol=1e-7) and np.allclose(
        v1, expected * motion.t, atol=1e-7
    )
    # many turns are counted
    assert (
        np.allclose(motion.coordinate("s2")[0], ratio * s1, atol=1e-10)
        and abs(motion.coordinate("s2")[0][-1]) > 2 * np.pi
    )
    assert motion.work[-1] == pytest.approx(torque * s1[-1], rel=1e-7)


def test_rack_and_pinion_and_belt_are_ratios():
    rack = mech.Body("rack", 2.0, BOX, (0, 1, 0))
    pinion, pulley = flywheel("pinion", 0.02, 0.0), flywheel("pulley", 0.04, 1.0)
    joints = [
        mech.prismatic("rail", "ground", "rack", (0, 1, 0), (1, 0, 0)),
        mech.revolute("shaft", "ground", "pinion", (0, 0, 0), Z),
        mech.revolute("axle", "ground", "pulley", (1, 0, 0), Z),
        mech.rack_and_pinion("teeth", "x", "turn", 0.1),
        mech.belt("belt", "pulley turn", "turn", 0.1, 0.2),
    ]
    motors = [
        mech.Motor("x", "rail", "slide"),
        mech.Motor("turn", "shaft"),
        mech.Motor("pulley turn", "axle"),
    ]
    m = mech.Mechanism(
        "rack", [rack, pinion, pulley], joints, motors, [mech.Force("rack", (3.0, 0, 0))]
    )
    a = mech.accelerations(m, *mech.assemble(m)).a[-3:]
    assert a[0] == pytest.approx(3.0 / (2.0 + 0.02 / 0.1**2 + 0.04 * (0.5 / 0.1) ** 2), rel=1e-10)
    assert np.allclose(a[1:], [a[0] / 0.1, a[0] / 0.2], rtol=1e-10)


def test_prescribed_motion_needs_the_torque_of_inverse_dynamics_and_does_its_work():
    bob = mech.Body("bob", 2.0, (0.1, 0.1, 0.1), (0.7, 0, 0))
    pin = mech.revolute("pin", "ground", "bob", (0, 0, 0), (0, -1, 0))
    m = mech.Mechanism(
        "crank",
        [bob],
        [pin, mech.prescribed("drive", "s", lambda t: sin(3 * t))],
        [mech.Motor("s", "pin")],
    )
    motion = mech.simulate(m, duration=1.0, rtol=1e-10, atol=1e-11)
    s, rate = motion.coordinate("s")
    assert np.allclose(s, np.sin(3 * motion.t), atol=1e-9) and np.allclose(
        rate, 3 * np.cos(3 * motion.t), atol=1e-9
    )
    assert motion.energy_drift < 1e-7 and abs(motion.work[-1]) > 1.0


def test_own_coupling_equals_the_built_in_one():
    bodies = [body("a"), body("b", position=(1, 0, 0))]
    built_in = mech.rod("c", "a", "b", (0, 0, 0), (1, 0, 0), 1.0)
    own = mech.custom(
        "c",
        ["a", "b"],
        lambda placed, s, t: [dot(placed[1].p - placed[0].p, placed[1].p - placed[0].p) - 1.0],
    )
    rng = np.random.default_rng(4)
    v = rng.normal(size=12)
    found = []
    for c in (built_in, own):
        m = mech.Mechanism(
            "pair", bodies, [c], elements=[mech.Force("a", (1, 2, 3), (0.1, 0.2, 0.3))]
        )
        q, w = mech.assemble(m, None, v)
        found.append(mech.accelerations(m, q, w).a)
    assert np.allclose(*found, atol=1e-10)


def test_own_force_equals_the_built_in_spring():
    spring = mech.Spring("a", "ground", (0.1, 0, 0), (0, 0, 1), 40.0, 0.2, 3.0)

    def law(t, frames):
        at = np.array([0.1, 0, 0])
        d = np.array([0, 0, 1.0]) - frames["a"].point(at)
        length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) ** 0.5
        rate = -dot(d, frames["a"].velocity(at)) / length
        pull = d * ((40.0 * (length - 0.2) + 3.0 * rate) / length)
        arm = frames["a"].R @ at
        return {
            "a": (
                pull,
                [
                    arm[1] * pull[2] - arm[2] * pull[1],
                    arm[2] * pull[0] - arm[0] * pull[2],
                    arm[0] * pull[1] - arm[1] * pull[0],
                ],
            )
        }

    own = mech.CustomForce(("a",), law)
    v = np.random.default_rng(2).normal(size=6)
    a, b = (
        mech.accelerations(m, *mech.assemble(m, None, v)).a
        for m in (mech.Mechanism("x", [body("a")], [], (), [e]) for e in (spring, own))
    )
    assert np.allclose(a, b, atol=1e-12)


def test_torsion_spring_swings_at_its_frequency():
    wheel = mech.Body("wheel", 1.0, (0.2, 0.2, 0.2), spin=(0, 0, 1.0))
    pin = mech.revolute("pin", "ground", "wheel", (0, 0, 0), Z)
    m = mech.Mechanism(
        "balance",
        [wheel],
        [pin],
        [mech.Motor("s", "pin")],
        [mech.TorsionSpring("s", stiffness=5.0)],
    )
    motion = mech.simulate(m, duration=1.0)
    w = np.sqrt(5.0 / 0.2)
    assert np.allclose(motion.coordinate("s")[0], np.sin(w * motion.t) / w, atol=1e-7)
    # the same spring on a robot's joint
    robot = Robot(
        "balance",
        (Link("base"), Link("wheel", 1.0, (0, 0, 0), (0.2, 0.2, 0.2, 0, 0, 0))),
        (Joint("s", "continuous", "base", "wheel"),),
        "base",
    )
    from armature.simulation import simulate

    run = simulate(robot, None, None, [1.0], 1.0, elements=[mech.TorsionSpring("s", stiffness=5.0)])
    assert np.allclose(run.q[:, 0], np.sin(w * run.t) / w, atol=1e-7) and run.energy_drift < 1e-8


def test_rotor_and_its_gyroscopic_torque_as_on_a_robot():
    # V4: a two-joint arm with rotors, as bodies and as a tree
    rotors = [Rotor(2e-3, 30.0, (0.0, 0.0, 1.0)), Rotor(1e-3, 50.0, (1.0, 0.0, 0.0))]
    links = (
        Link("base"),
        Link("l1", 2.0, (0, 0, 0.2), (0.05, 0.06, 0.02, 0, 0, 0)),
        Link("l2", 1.0, (0, 0, 0.3), (0.03, 0.03, 0.01, 0, 0, 0)),
    )
    joints = (
        Joint("j1", "continuous", "base", "l1", axis=Z, rotor=rotors[0]),
        Joint("j2", "continuous", "l1", "l2", (0, 0, 0.4), axis=(1, 0, 0), rotor=rotors[1]),
    )
    robot = Robot("arm", links, joints, "base")
    q, v, tau = np.zeros(2), np.array([3.0, 2.0]), np.array([5.0, -2.0])
    expected = compiled.forward_dynamics(robot, q, v, tau)
    bodies = []
    for link in links[1:]:
        J = compiled.jacobian(robot, q, link.name, at=np.array(link.com)) @ v
        bodies.append(
            mech.Body(
                link.name,
                link.mass,
                link.inertia,
                tuple(compiled.pose(robot, q, link.name).p + link.com),
                velocity=J[:3],
                spin=J[3:],
            )
        )
    couplings = [
        mech.revolute("j1", "ground", "l1", (0, 0, 0), Z),
        mech.revolute("j2", "l1", "l2", (0, 0, 0.4), (1, 0, 0)),
    ]
    motors = [
        mech.Motor(f"s{i + 1}", f"j{i + 1}", rotor=r.inertia, ratio=r.ratio)
        for i, r in enumerate(rotors)
    ]
    m = mech.Mechanism("arm", bodies, couplings, motors)
    start = mech.assemble(m)
    assert np.allclose(start[1][-2:], v, atol=1e-12)
    assert np.allclose(mech.accelerations(m, *start, torques=tau).a[-2:], expected, rtol=1e-10)
    assert sum(mech.energy(m, *start)[:1]) == pytest.approx(
        float(compiled.kinetic_energy(robot, q, v)), rel=1e-12
    )


def four_bar(extra=()) -> mech.Mechanism:
    rod = lambda n, a, b: mech.Body(n, 1.0, (0.01, 0.1, 0.1), tuple((np.array(a) + b) / 2))
    A, B, C, D = (0, 0, 0), (0, 0, 1), (2, 0, 1.5), (2, 0, 0)
    bodies = [rod("crank", A, B), rod("coupler", B, C), rod("rocker", C, D)]
    names = ["ground", "crank", "coupler", "rocker", "ground"]
    joints = [
        mech.revolute(n, names[i], names[i + 1], p, (0, 1, 0))
        for i, (n, p) in enumerate(zip("ABCD", (A, B, C, D)))
    ]
    return mech.Mechanism("four-bar", bodies, [*joints, *extra])


def test_redundant_couplings_are_counted_and_named():
    told = mech.redundancy(four_bar())
    assert (told.rows, told.rank, told.freedom) == (20, 17, 1) and told.redundant == {"D": 3}
    twice = mech.redundancy(
        four_bar([mech.revolute("A again", "ground", "crank", (0, 0, 0), (0, 1, 0))])
    )
    assert twice.rank == 17 and twice.redundant == {"D": 3, "A again": 5}


def test_reactions_hold_the_mechanism():
    m = four_bar()
    q, v = mech.assemble(m)
    found = mech.accelerations(m, q, v)
    told = mech.reactions(m, q, v)
    for i, b in enumerate(m.bodies):
        force = sum(r[b.name].force for r in told.values() if b.name in r) + b.mass * np.array(
            m.gravity
        )
        assert np.allclose(force, b.mass * found.a[6 * i : 6 * i + 3], atol=1e-9)
    # action and reaction; a hinge carries no torque about its axis
    assert np.allclose(told["B"]["crank"].force, -told["B"]["coupler"].force, atol=1e-10)
    assert np.allclose(told["B"]["crank"].torque, -told["B"]["coupler"].torque, atol=1e-10)
    assert abs(told["B"]["crank"].torque[1]) < 1e-10


def test_iterative_solver_agrees_and_profits_from_the_last_step():
    m = four_bar()
    q, v = mech.assemble(m, None, np.random.default_rng(0).normal(size=18))
    direct = mech.accelerations(m, q, v)
    cold = mech.accelerations(m, q, v, solver="iterative")
    assert np.allclose(cold.a, direct.a, atol=1e-8 * np.abs(direct.a).max())
    near = mech.accelerations(m, q, v * (1 + 1e-9), solver="iterative", guess=cold)
    assert near.iterations < 0.7 * cold.iterations
    a, b = (
        mech.simulate(m, None, q, v, 0.2, "rk4", 0.01, solver=s) for s in ("direct", "iterative")
    )
    assert np.allclose(a.q[-1], b.q[-1], atol=1e-8)


def test_a_start_that_is_not_assembled_is_closed():
    bodies = [body("a"), body("b", position=(1, 0.1, 0.05))]
    m = mech.Mechanism(
        "pair",
        bodies,
        [
            mech.fixed("w", "ground", "a", (0, 0, 0)),
            mech.revolute("c", "a", "b", (0.5, 0, 0), Z, at_b=(0.52, 0.1, 0.05)),
        ],
    )
    q, _ = mech.assemble(m)
    assert np.max(np.abs(m.rows.evaluate(0.0, m.unpack(q, np.zeros(12))).f)) < 1e-11


def test_what_cannot_be_is_refused_by_name():
    far = mech.rod("long", "ground", "b", (0, 0, 0), (1, 0, 0), 5.0)
    pin = mech.revolute("pin", "ground", "b", (0, 0, 0), Z)
    with pytest.raises(RobotError, match=r"coupling '(long|pin)' cannot be closed: residual"):
        mech.assemble(mech.Mechanism("x", [body(position=(1, 0, 0))], [pin, far]))
    motors = [mech.Motor("s", "pin")]
    both = [
        mech.prescribed("slow", "s", lambda t: 0.1 * t),
        mech.prescribed("fast", "s", lambda t: 0.3 * t),
    ]
    with pytest.raises(RobotError, match=r"'(slow|fast|s of pin)' contradicts the others"):
        mech.simulate(mech.Mechanism("x", [body(position=(1, 0, 0))], [pin, *both], motors))
    both = [
        mech.prescribed("slow", "s", lambda t: 0.1 * t * t),
        mech.prescribed("fast", "s", lambda t: 0.3 * t * t),
    ]
    with pytest.raises(
        RobotError, match=r"'(slow|fast|s of pin)' contradicts the others: no accelerations"
    ):
        mech.simulate(mech.Mechanism("x", [body(position=(1, 0, 0))], [pin, *both], motors))
    with pytest.raises(RobotError, match="'c', which is no body"):
        mech.Mechanism("x", [body()], [mech.fixed("w", "b", "c", (0, 0, 0))])
    with pytest.raises(RobotError, match="name 'b' is taken"):
        mech.Mechanism("x", [body(), body()], [])
    with pytest.raises(RobotError, match=r"declare it: Motor\('u', joint\)"):
        mech.Mechanism("x", [body()], [pin, mech.gear("g", "u", "s", 1.0)], motors)
    with pytest.raises(ArgumentError, match="has no slide"):
        mech.assemble(mech.Mechanism("x", [body()], [pin], [mech.Motor("s", "pin", "slide")]))
    with pytest.raises(ArgumentError, match="no motor 'u'"):
        mech.simulate(mech.Mechanism("x", [body()], [pin], motors), {"u": 1.0})
    with pytest.raises(ArgumentError, match="acts on 'nose'"):
        mech.Mechanism("x", [body()], [pin], motors, [mech.Force("nose", (1, 0, 0))])
