"""IFToMM A03: Andrews' squeezing mechanism, seven bodies, ten hinges, a spring and a constant motor
torque; 0.03 s.

Each hinge that gives one of the published angles carries a coordinate.
"""

from math import cos, sin

from armature import mechanisms as mech

# ground points, m
O, A, B, C = (0.0, 0.0), (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
# name: mass kg, moment about the centre kg·m², points from the centre in the body's axes (m)
BODIES = {
    "K1": (0.04325, 2.194e-06, {"O": (-0.00092, 0.0), "F": (0.00608, 0.0)}),
    "K2": (0.00365, 4.410e-07, {"F": (0.0115, 0.0), "E": (-0.0165, 0.0)}),
    "K3": (
        0.02373,
        5.255e-06,
        {"B": (-0.01043, 0.01874), "E": (-0.01043, -0.01626), "D": (0.00957, 0.00074)},
    ),
    "K4": (0.00706, 5.667e-07, {"E": (0.0, -0.01421), "G": (0.0, 0.00579)}),
    "K5": (0.07050, 1.169e-05, {"A": (-0.02308, -0.00916), "G": (0.01692, -0.00916)}),
    "K6": (0.00706, 5.667e-07, {"E": (0.01421, 0.0), "H": (-0.00579, 0.0)}),
    "K7": (0.05498, 1.912e-05, {"A": (0.00449, 0.01228), "H": (0.00449, -0.02772)}),
}
BETA, GAMMA, PHI, DELTA, EPSILON = (
    -0.0617138900142764496,
    0.455279819163070380,
    0.222668390165885885,
    0.487364979543842550,
    1.23054744454982119,
)
START = {
    "beta": BETA,
    "Theta": 0.0,
    "gamma": GAMMA,
    "Phi": PHI,
    "delta": DELTA,
    "Omega": -PHI,
    "epsilon": EPSILON,
}
ANGLES = {
    "K1": BETA,
    "K2": BETA,
    "K3": GAMMA,
    "K4": PHI + DELTA,
    "K5": DELTA,
    "K6": EPSILON - PHI,
    "K7": EPSILON,
}


def turned(body: str, point: tuple[float, float]) -> tuple[float, float]:
    """A vector of a body in ground axes, at the start."""
    c, s = cos(ANGLES[body]), sin(ANGLES[body])
    return c * point[0] - s * point[1], s * point[0] + c * point[1]


def placements() -> tuple[dict, dict]:
    """Centres of the bodies and positions of the hinges at the start, from body to body."""
    at: dict[str, tuple[float, float]] = {"O": O, "A": A, "B": B}
    centre: dict[str, tuple[float, float]] = {}
    for body, known in (
        ("K1", "O"),
        ("K2", "F"),
        ("K3", "B"),
        ("K5", "A"),
        ("K7", "A"),
        ("K4", "G"),
        ("K6", "H"),
    ):
        points = BODIES[body][2]
        offset = turned(body, points[known])
        centre[body] = at[known][0] - offset[0], at[known][1] - offset[1]
        for name, point in points.items():
            p = turned(body, point)
            at.setdefault(name, (centre[body][0] + p[0], centre[body][1] + p[1]))
    return centre, at


def build() -> mech.Mechanism:
    centre, at = placements()
    bodies = []
    for name, (mass, J, _) in BODIES.items():
        c, s = cos(ANGLES[name]), sin(ANGLES[name])
        bodies.append(
            mech.Body(
                name, mass, (J, J, J), (*centre[name], 0.0), ((c, -s, 0), (s, c, 0), (0, 0, 1))
            )
        )
    pairs = (
        ("ground", "K1", "O"),
        ("K1", "K2", "F"),
        ("K2", "K3", "E"),
        ("K2", "K4", "E"),
        ("K2", "K6", "E"),
        ("ground", "K3", "B"),
    )
    pairs += (("K5", "K4", "G"), ("ground", "K5", "A"), ("K7", "K6", "H"), ("ground", "K7", "A"))
    hinges = [mech.revolute(f"{p} {b}", a, b, (*at[p], 0.0), (0, 0, 1)) for a, b, p in pairs]
    on = {
        "beta": "O K1",
        "Theta": "F K2",
        "gamma": "B K3",
        "Phi": "G K4",
        "delta": "A K5",
        "Omega": "H K6",
        "epsilon": "A K7",
    }
    motors = [mech.Motor(name, joint) for name, joint in on.items()]
    spring = mech.Spring(
        "K3",
        "ground",
        (*BODIES["K3"][2]["D"], 0.0),
        (*C, 0.0),
        stiffness=4530.0,
        rest_length=0.07785,
    )
    return mech.Mechanism(
        "squeezing mechanism", bodies, hinges, motors, [spring], gravity=(0.0, 0.0, 0.0)
    )


def main(rtol: float = 1e-11) -> mech.MechanismMotion:
    motion = mech.simulate(build(), {"beta": 0.033}, duration=0.03, rtol=rtol, atol=1e-13)
    print(motion)
    for name, start in START.items():
        s, rate = motion.coordinate(name)
        print(f"{name:>8}: {start + s[-1]:.10f} rad, {rate[-1]:.7f} rad/s")
    return motion


if __name__ == "__main__":
    main()
