"""Optimal-control problems with exact or independently recomputed values, as a user would write
them."""

import numpy as np

from armature import optimal_control as oc

INF = np.inf


def two_link_arm():
    """Two-link arm without gravity, least time (Dissanayake, Goh and Phan-Thien, 1991)."""
    L1, m, E, e = 0.4, 0.5, 0.1, 0.2

    def rates(x, u):
        coupling = m * L1 * e * np.cos(x[1])
        H22 = E + m * e**2
        H12, H11 = H22 + coupling, 2 * E + m * e**2 + m * (L1**2 + e**2) + 2 * coupling
        h = m * L1 * e * np.sin(x[1])
        r1, r2 = u[0] + 2 * h * x[2] * x[3] + h * x[3] ** 2, u[1] - h * x[2] ** 2
        D = H11 * H22 - H12**2
        return [x[2], x[3], (H22 * r1 - H12 * r2) / D, (H11 * r2 - H12 * r1) / D]

    return oc.ControlProblem(4, 2, rates, start=[0, -2, 0, 0], end=[1, -1, 0, 0], u=(-10, 10))


def coulomb_mass():
    """One mass with Coulomb friction, least time (Driessen): the friction's sign is a number of
    each phase."""
    forward = oc.Phase(data=(1.0,), x=([-INF, 0], INF), end=[None, 0])
    backward = oc.Phase(data=(-1.0,), x=(-INF, [INF, 0]))
    rates = lambda x, u, p, d: [x[1], u[0] - d[0]]
    return oc.ControlProblem(
        2, 1, rates, start=[0, 1], end=[-1, 0], u=(-2, 2), phases=[forward, backward]
    )


def coulomb_masses():
    """Two masses, two springs, Coulomb friction, least time (Driessen); the sequence of signs that
    is best."""
    k1, k2, m1, m2, mu = 0.95, 0.85, 1.1, 1.2, 1.0
    signs = [(-1, -1), (1, -1), (1, 1), (-1, 1), (1, 1)]

    def rates(x, u, p, d):
        first = (-(k1 + k2) * x[0] + k2 * x[2] - mu * d[0] + u[0]) / m1
        return [x[1], first, x[3], (k2 * x[0] - k2 * x[2] - mu * d[1] + u[1]) / m2]

    def phase(s, following):
        low = [-INF, 0 if s[0] > 0 else -INF, -INF, 0 if s[1] > 0 else -INF]
        high = [INF, 0 if s[0] < 0 else INF, INF, 0 if s[1] < 0 else INF]
        turns = [None if following is None or a == b else 0 for a, b in zip(s, following or s)]
        return oc.Phase(data=s, x=(low, high), end=[None, turns[0], None, turns[1]])

    phases = [phase(s, following) for s, following in zip(signs, [*signs[1:], None])]
    return oc.ControlProblem(
        4, 2, rates, start=[0, -1, 0, -2], end=[1, 0, 2, 0], u=(-4, 4), phases=phases
    )


def free_floating():
    """Free floating robot, least energy in 5 s."""
    M, D, Le, In = 10, 5, 5, 12

    def rates(x, u):
        a, b = u[0] + u[2], u[1] + u[3]
        c, s = np.cos(x[4]), np.sin(x[4])
        return [x[1], (a * c - b * s) / M, x[3], (a * s + b * c) / M, x[5], (a * D - b * Le) / In]

    return oc.ControlProblem(
        6,
        4,
        rates,
        0.5 * oc.control_effort(),
        start=[0] * 6,
        end=[4, 0, 4, 0, 0, 0],
        duration=5.0,
        u=(-1000, 1000),
    )


def container_crane():
    """Container crane, least swing (Sakawa and Shindo)."""

    def rates(x, u):
        swing = -(9 / x[1]) * (u[0] + 27.0756 * x[2] + 2 * x[4] * x[5])
        return [9 * x[3], 9 * x[4], 9 * x[5], 9 * (u[0] + 17.2656 * x[2]), 9 * u[1], swing]

    return oc.ControlProblem(
        6,
        2,
        rates,
        oc.integral(lambda x, u: 4.5 * (x[2] ** 2 + x[5] ** 2)),
        duration=1.0,
        start=[0, 22, 0, 0, -1, 0],
        end=[10, 14, 0, 2.5, 0, 0],
        u=([-2.83374, -0.80865], [2.83374, 0.71265]),
        x=([-5, -5, -5, -2.5, -1, -5], [15, 25, 15, 2.5, 1, 15]),
    )


def cart_pole():
    """Cart-pole swing-up, least ∫u² (Kelly)."""
    m1, m2, l, g = 1.0, 0.3, 0.5, 9.81

    def rates(x, u):
        s, c, w = np.sin(x[1]), np.cos(x[1]), x[3] ** 2
        mass = m1 + m2 * s**2
        return [
            x[2],
            x[3],
            (l * m2 * s * w + u[0] + m2 * g * c * s) / mass,
            -(l * m2 * c * s * w + u[0] * c + (m1 + m2) * g * s) / (l * mass),
        ]

    return oc.ControlProblem(
        4,
        1,
        rates,
        "control effort",
        start=[0] * 4,
        end=[1, np.pi, 0, 0],
        duration=2.0,
        u=(-20, 20),
        x=([-2, -INF, -INF, -INF], [2, INF, INF, INF]),
    )


def motor(friction: float, counted: bool):
    """D.c. motor and inertia, rest to rest: least copper loss, or, counted, with what viscous
    friction takes."""
    R, k, J, Q, T = 0.8, 0.12, 0.004, 2.0, 0.5
    loss = R * oc.control_effort()
    loss = loss + oc.integral(lambda x, u: friction * x[1] ** 2) if counted else loss
    rates = lambda x, i: [x[1], (k * i[0] - friction * x[1]) / J]
    return oc.ControlProblem(2, 1, rates, loss, start=[0, 0], end=[Q, 0], duration=T)


def torque_rate(way: float):
    """A mass with limits of torque and torque rate, least time; the torque is a state."""
    rates = lambda x, u: [x[1], x[2] / 0.1, u[0]]
    return oc.ControlProblem(
        3,
        1,
        rates,
        start=[0, 0, 0],
        end=[way, 0, 0],
        u=(-40, 40),
        x=([-INF, -INF, -2], [INF, INF, 2]),
    )


def voltage():
    """One joint with limits of current and voltage, viscous friction, least time."""
    rates = lambda x, i: [x[1], (0.5 * i[0] - 0.01 * x[1]) / 0.02]
    return oc.ControlProblem(
        2,
        1,
        rates,
        start=[0, 0],
        end=[20, 0],
        u=(-10, 10),
        constraints=lambda x, i: [i[0] + 0.5 * x[1]],
        between=(-24, 24),
    )


def two_voltages():
    """Two joints on one line of the joint space, each with limits of current and voltage, least
    time along it."""
    joints = [
        (20.0, 0.02, 0.01, 0.5, 1.0, 24.0, 10.0),
        (-8.0, 0.05, 0.05, 0.8, 1.5, 24.0, 6.0),
    ]  # D, J, b, k, R, U, I

    def parts(x, u):
        found = []
        for D, J, b, k, R, U, most in joints:
            i = (J * D * u[0] + b * D * x[1]) / k
            found += [i / most, (R * i + k * D * x[1]) / U]
        return found

    return oc.ControlProblem(
        2,
        1,
        lambda x, u: [x[1], u[0]],
        start=[0, 0],
        end=[1, 0],
        constraints=parts,
        between=(-1, 1),
    )


def brachistochrone():
    """Down a frictionless wire from rest, 2 m along and 2 m down."""

    def rates(x, u):
        _, _, v = x
        (angle,) = u
        return [v * np.sin(angle), v * np.cos(angle), 9.81 * np.cos(angle)]

    return oc.ControlProblem(3, 1, rates, start=[0, 0, 0], end=[2, 2, None], u=(0, np.pi))


def zermelo():
    """Across a current that grows with the distance (Zermelo)."""
    return oc.ControlProblem(
        2,
        1,
        lambda x, u: [np.cos(u[0]) - x[1], np.sin(u[0])],
        start=[3.66, -1.86],
        end=[0, 0],
        u=(0, 2 * np.pi),
    )


def bryson_denham():
    """Least effort under a limit of the state that holds on an arc: 4/(9 L), L = 1/9."""
    return oc.ControlProblem(
        2,
        1,
        lambda x, u: [x[1], u[0]],
        0.5 * oc.control_effort(),
        start=[0, 1],
        end=[0, -1],
        duration=1.0,
        x=([-INF, -INF], [1 / 9, INF]),
    )


def van_der_pol():
    """An oscillator brought down: full controls, then a singular arc."""
    A = np.array([[0.0, 1.0], [-1.0, 1.0]])
    return oc.ControlProblem(
        2,
        1,
        lambda x, u: A @ x + np.array([0.0, 1.0]) * (u[0] - x[0] ** 2 * x[1]),
        0.5 * oc.integral(lambda x: x @ x),
        start=[0, 1],
        duration=5.0,
        u=(-1, 1),
    )


def oscillator():
    """x'' + x = u brought to rest from 2: half a turn."""
    return oc.ControlProblem(
        2, 1, lambda x, u: [x[1], u[0] - x[0]], start=[2, 0], end=[0, 0], u=(-1, 1)
    )


def cops_arm():
    """The robot arm of COPS: slide and two turns, least time."""
    L = 5.0

    def rates(x, u):
        length, v, _, a, elevation, b = x
        inertia = ((L - length) ** 3 + length**3) / 3
        return [v, u[0] / L, a, u[1] / (inertia * np.sin(elevation) ** 2), b, u[2] / inertia]

    return oc.ControlProblem(
        6,
        3,
        rates,
        start=[4.5, 0, 0, 0, np.pi / 4, 0],
        end=[4.5, 0, 2 * np.pi / 3, 0, np.pi / 4, 0],
        u=(-1, 1),
        x=([0, -INF, -np.pi, -INF, 0, -INF], [L, INF, np.pi, INF, np.pi, INF]),
    )


CYCLOID = 2.4120111439135253  # a − sin a = 1 − cos a
# problem, value, relative error allowed
KNOWN = {
    "two-link arm": (two_link_arm, 0.39185453951567, 1e-6),
    "Coulomb friction, one mass": (coulomb_mass, 1 / 3 + 2 / 3 * np.sqrt(7), 1e-6),
    "Coulomb friction, two masses": (coulomb_masses, 2.1142765, 1e-6),
    "free floating robot": (free_floating, 76.8, 1e-9),
    "container crane": (container_crane, 0.00515038, 5e-6),
    "cart-pole": (cart_pole, 58.807667458, 1e-8),
    "motor, no friction": (lambda: motor(0.0, False), 0.3413333333333334, 1e-9),
    "motor, friction": (lambda: motor(0.02, False), 0.5531819072509746, 1e-9),
    "motor, friction counted": (lambda: motor(0.02, True), 0.7415984172684382, 1e-9),
    "torque rate": (lambda: torque_rate(1.0), 0.5, 1e-6),
    "torque rate, short": (lambda: torque_rate(0.0128), 0.10079368399158987, 2e-6),
    "current and voltage": (voltage, 0.632784370166708, 1e-6),
    "two currents and voltages": (two_voltages, 0.640015615913765, 2e-6),
    "brachistochrone": (
        brachistochrone,
        CYCLOID * np.sqrt(2 / 9.81 / (1 - np.cos(CYCLOID))),
        1e-9,
    ),
    "Zermelo": (zermelo, 5.45786526475, 1e-8),  # from the extremals' own equation, θ' = cos² θ
    "Bryson and Denham": (bryson_denham, 4.0, 1e-7),
    # a fine collocation with Ipopt gives 0.75966345
    "van der Pol, singular arc": (van_der_pol, 0.75966339, 1e-6),
    "oscillator": (oscillator, np.pi, 1e-7),
    "robot arm of COPS": (cops_arm, 9.1409, 1e-5),
}
